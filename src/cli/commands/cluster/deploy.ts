import { existsSync } from 'node:fs';
import { type Address, isAddress } from '@solana/kit';
import { formatSol } from '../../../kernel/money.ts';
import { isProblem, problem } from '../../../kernel/problems.ts';
import type { ClusterDesk, DecidedDeployment, DeploymentStep, DeploymentWanted } from '../../../service/index.ts';
import { readKeypair, readKeypairSeed, type Signer, SOLANA_NETWORKS } from '../../../solana/index.ts';
import { counted, fieldLines } from '../../../terminal/index.ts';
import { type ExitCode, readSetting } from '../../settings/index.ts';
import type { CommandContext, OptionsOf, Run } from '../../spec/index.ts';
import { nextLines, printPlan, stepLines } from '../../view/index.ts';
import { clusterInUse, ofCluster, onCluster } from './in-use.ts';
import type * as spec from './spec.ts';

type DeployOptions = OptionsOf<typeof spec.clusterDeploy>;

export const clusterDeploy: Run<typeof spec.clusterDeploy> = async (context, options) => {
  try {
    return await deploy(context, options);
  } catch (error) {
    throw isProblem(error) && error.next.length > 0 ? ofCluster(error, options) : error;
  }
};

/**
 * Deploys the escrow program, or brings the deployed one up to date. Before it sends anything, it says the cost and who
 * can change the program afterwards. Run again after an interruption, it continues.
 */
const deploy: Run<typeof spec.clusterDeploy> = async (context, options) => {
  const { terminal, globals, signal } = context;
  const desk = await clusterInUse(context, options);
  requireMainnetNamed(desk, options);
  const payer =
    globals.keypair === undefined ? null : readKeypair(readSetting('keypair', globals.keypair, '--keypair'));
  if (options.abort) return abort(context, desk, payer);
  const wanted = wantedFrom(options, payer);
  terminal.phase('Asking the cluster');
  const decided = await desk.decide(wanted);
  terminal.settle();
  if (globals.dryRun) {
    const isKnown = decided.isResumed || decided.kind === 'upgrade' || wanted.programSeed !== null;
    return printPlan(terminal, stepsOf(decided, isKnown), factsOf(desk, decided, isKnown));
  }
  if (decided.plan.transactions > 0) await agree(context, decided);
  let said = '';
  const { program, found, isUnchanged } = await decided.carryOut({
    signal,
    onStep(step) {
      const words = wordsOf(step);
      if (words !== said) terminal.phase(words);
      said = words;
    },
  });
  const status = isUnchanged ? 'unchanged' : doneBy(decided);
  terminal.result(
    {
      status,
      network: desk.cluster.network,
      program,
      upgrade_authority: found.upgradeAuthority,
      sha256: decided.sha256,
      size: found.size,
      slot: Number(found.slot),
    },
    {
      lines: (document, { paint }) => [
        `${paint.good('✓')} ${STATUS_WORDS[status]}`,
        ...fieldLines(paint.dim, {
          Program: paint.bold(document.program),
          Network: document.network,
          'Can change it': document.upgrade_authority ?? 'no one',
          sha256: document.sha256,
        }),
      ],
    },
  );
  terminal.aside([
    '',
    ...(found.upgradeAuthority === null
      ? []
      : ['The holder of that key can replace the program. Give the right up with --final.']),
    ...nextLines(onCluster(['cluster', 'check'], options)),
  ]);
  return 0;
};

function doneBy({ kind, plan }: DecidedDeployment) {
  if (kind === 'deploy') return 'deployed';
  return plan.program.kind === 'present' && plan.program.isShipped ? 'finalised' : 'upgraded';
}

const STATUS_WORDS = {
  deployed: 'The escrow program is deployed, byte for byte.',
  upgraded: 'The escrow program is up to date, byte for byte.',
  finalised: 'The escrow program can no longer be changed.',
  unchanged: 'The escrow program is there already, byte for byte.',
} as const;

/** @throws Problem `usage` */
function requireMainnetNamed(desk: ClusterDesk, options: DeployOptions): void {
  if (desk.cluster.network !== SOLANA_NETWORKS.mainnet || options.mainnet) return;
  throw problem('usage', {
    message: 'That cluster is MAINNET: deploying there costs real SOL.',
    fix: 'Add --mainnet if that is what you want. Nothing was sent.',
  });
}

/** @throws Problem `usage`, `no_wallet`, `keypair_unreadable` */
function wantedFrom(options: DeployOptions, payer: Signer | null): DeploymentWanted {
  const { program } = options;
  const isDeployed = program !== undefined && isAddress(program) && !existsSync(program);
  if (isDeployed && options.new) {
    throw problem('usage', {
      message: '--program names a deployed program, and --new asks for another one.',
      fix: 'Let --program name the keypair file of the new one, or leave out --new.',
    });
  }
  return {
    payer,
    program: isDeployed ? (program as Address) : null,
    programSeed: program === undefined || isDeployed ? null : readKeypairSeed(program),
    isNew: options.new === true,
    isFinal: options.final === true,
    microLamports: options.priorityFee === undefined ? null : BigInt(options.priorityFee),
  };
}

async function agree({ terminal, globals }: CommandContext, decided: DecidedDeployment): Promise<void> {
  const { width } = terminal.asideScreen;
  if (globals.yes) return;
  const prompts = terminal.ask('--yes');
  terminal.review([...stepLines(stepsOf(decided, true), width), '']);
  const cost = formatSol(decided.plan.rent + decided.plan.fees);
  const question = decided.isResumed ? 'Continue' : decided.kind === 'deploy' ? 'Deploy' : 'Bring it up to date';
  if (!(await prompts.confirm(`${question} for ${cost} SOL?`, false))) {
    throw problem('declined', { message: 'Not deployed.', fix: 'Nothing was sent.' });
  }
}

function stepsOf({ kind, plan, payer, program, isFinal, isResumed }: DecidedDeployment, isKnown: boolean): string[] {
  if (plan.transactions === 0) return [`Nothing: the shipped program is at ${program} already.`];
  const name = isKnown ? program : 'a new address';
  const isThere = plan.program.kind === 'present' && plan.program.isShipped;
  const cost = [
    ...(plan.rent > 0n && !isThere ? [`${formatSol(plan.rent)} SOL of rent, locked in the program`] : []),
    `${formatSol(plan.fees)} SOL of fees`,
    ...(plan.rent > 0n || isThere ? [] : [`${formatSol(plan.bufferRent)} SOL lent to a buffer until the end`]),
  ].join(', and ');
  return [
    ...(isThere
      ? []
      : [
          `${isResumed ? 'Continue to ' : ''}${kind === 'deploy' ? 'deploy the escrow program to' : 'upgrade the program at'} ${name}: ${counted(plan.missing.length, 'chunk')} of code to write.`.replace(
            /^./,
            (first) => first.toUpperCase(),
          ),
        ]),
    `Send ${counted(plan.transactions, 'transaction')}, paid by ${payer}: ${cost}. It holds ${formatSol(plan.balance)} SOL, and needs ${formatSol(plan.needed)}.`,
    isFinal
      ? 'Give up the right to change the program, for good.'
      : `${payer} can replace the program afterwards, until that right is given up (--final).`,
  ];
}

const factsOf = (desk: ClusterDesk, decided: DecidedDeployment, isKnown: boolean) => ({
  network: desk.cluster.network,
  kind: decided.kind,
  is_resumed: decided.isResumed,
  program: isKnown ? decided.program : null,
  payer: decided.payer,
  sha256: decided.sha256,
  transactions: decided.plan.transactions,
  rent: formatSol(decided.plan.rent),
  fees: formatSol(decided.plan.fees),
  needed: formatSol(decided.plan.needed),
  balance: formatSol(decided.plan.balance),
});

const STEP_WORDS = {
  buffer: 'Making the buffer',
  deploy: 'Putting it in place',
  verify: 'Comparing the deployed bytes',
  finalise: 'Waiting until it is final, then giving up the right to change it',
} as const;

const wordsOf = (step: DeploymentStep): string =>
  step.kind === 'write'
    ? `Writing the program: ${Math.floor((step.done / step.total) * 4) * 25} %`
    : STEP_WORDS[step.kind];

async function abort(
  { terminal, globals, signal }: CommandContext,
  desk: ClusterDesk,
  payer: Signer | null,
): Promise<ExitCode> {
  if (globals.dryRun) {
    return printPlan(terminal, ['End the deployment that has not finished, and take the rent of its buffer back.']);
  }
  terminal.phase('Looking for buffers of this home');
  const buffers = await desk.abort(payer, signal);
  const reclaimed = formatSol(buffers.reduce((sum, { lamports }) => sum + lamports, 0n));
  terminal.result(
    {
      status: 'aborted',
      network: desk.cluster.network,
      buffers: buffers.map(({ buffer, lamports }) => ({ buffer, sol: formatSol(lamports) })),
      reclaimed,
    },
    {
      lines: (document, { paint }) =>
        document.buffers.length === 0
          ? ['No buffer of this home is on that cluster.']
          : [`${paint.good('✓')} ${document.reclaimed} SOL of rent is back`],
    },
  );
  return 0;
}
