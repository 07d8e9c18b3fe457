import type { Address } from '@solana/kit';
import { escrowElf } from '../../../escrow/index.ts';
import { formatSol, formatUsdc } from '../../../kernel/money.ts';
import { overNetwork } from '../../../kernel/network.ts';
import { problem } from '../../../kernel/problems.ts';
import type { ClusterDesk, InspectedProgram, OperatorWallet } from '../../../service/index.ts';
import { fieldLines, listLines, type Screen } from '../../../terminal/index.ts';
import { loadWalletConnection } from '../../session/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import { nextLines, printPlan } from '../../view/index.ts';
import { clusterInUse, onCluster } from './in-use.ts';
import type * as spec from './spec.ts';

export const clusterCheck: Run<typeof spec.clusterCheck> = async (context, options) => {
  const { terminal } = context;
  const desk = await clusterInUse(context, options);
  terminal.phase('Asking the cluster');
  const address = (options.program as Address | undefined) ?? (await desk.program());
  const [found, sbpf, mint, wallets] = await Promise.all([
    desk.inspect(address),
    desk.support(),
    desk.mint(),
    desk.wallets(),
  ]);
  const program = { address, ...programFacts(found) };
  const shown = wallets.map(shownWallet);
  const isServed = program.status === 'shipped' || program.status === 'previous';
  const isOk = isServed && mint.decimals !== null && shown.every(({ is_enough }) => is_enough);
  const report = { status: isOk ? 'ok' : 'failed', network: desk.cluster.network, program, sbpf, mint, wallets: shown };
  terminal.result(report, {
    lines: (document, screen) => [
      ...fieldLines(screen.paint.dim, [
        ['Network', document.network],
        ['Program', document.program.address],
        ['', programWords(document.program, screen)],
        ['Can change it', document.program.slot === null ? null : (document.program.upgrade_authority ?? 'no one')],
        ['Deploys', sbpfWords(document.sbpf)],
        ['USDC', document.mint.address],
        ['', document.mint.decimals === null ? screen.paint.bad('This mint does not exist on this cluster.') : null],
      ]),
      '',
      ...walletLines(document.wallets, screen),
    ],
    rows: (document) => [
      ['program', document.program.status, document.program.address],
      ['sbpf', document.sbpf.state, String(document.sbpf.version)],
      ['mint', document.mint.decimals === null ? 'absent' : 'ok', document.mint.address],
      ...document.wallets.map((one) => [one.role, one.is_enough ? 'ok' : 'low', one.address]),
    ],
  });
  const needs = [
    ...(program.status === 'shipped' || sbpf.state !== 'active' ? [] : [deployFor(program)]),
    ...(shown.every(({ is_enough }) => is_enough) ? [] : [['cluster', 'fund']]),
  ];
  if (needs.length > 0) terminal.aside(['', ...nextLines(...needs.map((one) => onCluster(one, options)))]);
  return isOk ? 0 : 8;
};

/** Shows the operator's wallets, and makes the missing ones. */
export const clusterKeys: Run<typeof spec.clusterKeys> = async (context, options) => {
  const { terminal, globals } = context;
  if (globals.dryRun)
    return printPlan(terminal, [
      'Create the wallets that this home does not have yet.',
      'Show their addresses, what they hold and what they need.',
    ]);
  const desk = await clusterInUse(context, options);
  terminal.phase('Asking the cluster');
  const wallets = (await desk.wallets()).map(shownWallet);
  terminal.result(
    { network: desk.cluster.network, wallets, ring: desk.ring().map(({ name, state }) => ({ id: name, state })) },
    {
      list: 'wallets',
      lines: (document, screen) => [
        ...walletLines(document.wallets, screen),
        ...(document.ring.length > 0
          ? ['', `Key ring: ${document.ring.map((key) => `${key.id} (${key.state})`).join(', ')}`]
          : []),
      ],
      rows: (document) =>
        document.wallets.map((one) => [one.role, one.address, one.sol, one.needs_sol, one.usdc, one.state]),
    },
  );
  const low = wallets.filter(({ is_enough }) => !is_enough);
  if (low.length > 0) {
    terminal.aside(['', `Send SOL to ${low.map(({ role }) => role).join(' and ')} before a service starts here.`]);
  }
  return 0;
};

export const clusterFund: Run<typeof spec.clusterFund> = async (context, options) => {
  const { terminal, globals } = context;
  const lamports = options.sol ?? 10_000_000_000n;
  const desk = await clusterInUse(context, options);
  const wallets = (await desk.wallets()).filter(
    ({ role, state }) => role !== 'treasury' && (state === 'current' || state === 'next'),
  );
  if (globals.dryRun)
    return printPlan(
      terminal,
      wallets.map(({ role, address }) => `Ask the faucet for ${formatSol(lamports)} SOL to ${address} (${role}).`),
    );
  terminal.phase('Asking the faucet');
  const give = await faucetOf(context, desk);
  const funded = [];
  for (const { role, address } of wallets) {
    funded.push({ role, address, sol: formatSol(lamports), transaction: await give(address, lamports) });
  }
  terminal.result(
    { network: desk.cluster.network, funded },
    {
      list: 'funded',
      lines: (document, { paint }) =>
        document.funded.map((one) => `${paint.good('✓')} ${one.sol} SOL to ${one.address} (${one.role})`),
    },
  );
  terminal.aside(['', ...nextLines(onCluster(['cluster', 'keys'], options))]);
  return 0;
};

/** Returns a function that sends SOL, and waits until it has landed. */
async function faucetOf(
  context: CommandContext,
  desk: ClusterDesk,
): Promise<(to: Address, lamports: bigint) => Promise<string>> {
  const { faucet, cluster } = desk;
  if (faucet) return (to, lamports) => faucet.airdropSol(to, lamports);
  const { session, clock, signal } = context;
  const { connectWallet } = await loadWalletConnection();
  const url = desk.rpcUrl ?? '';
  const wired = await connectWallet({
    rpc: async () => ({ url, fetch: overNetwork('follow') }),
    profile: session.profile,
  });
  return async (to, lamports) => {
    const signature = await wired.call('requestAirdrop', [to, Number(lamports)]);
    for (let poll = 0; poll < MOST_POLLS && !signal.aborted; poll++) {
      if (await cluster.signatureStatus(signature as Parameters<typeof cluster.signatureStatus>[0]))
        return String(signature);
      await clock.sleep(500, signal);
    }
    signal.throwIfAborted();
    throw problem('timed_out', { message: 'The faucet’s transaction has not landed yet.' });
  };
}

const MOST_POLLS = 60;

/** A deployed program cannot grow: a larger release needs a new address. */
const deployFor = ({ status, size }: ReturnType<typeof programFacts>): string[] =>
  status === 'previous' && (size ?? 0) < escrowElf().length ? ['cluster', 'deploy', '--new'] : ['cluster', 'deploy'];

function programFacts(found: InspectedProgram) {
  if (found.kind !== 'present') return { status: found.kind, upgrade_authority: null, slot: null, size: null };
  return {
    status: found.isShipped ? ('shipped' as const) : found.isPrevious ? ('previous' as const) : ('different' as const),
    upgrade_authority: found.upgradeAuthority,
    slot: Number(found.slot),
    size: found.size,
  };
}

const sbpfWords = ({ version, state, node }: Awaited<ReturnType<ClusterDesk['support']>>): string => {
  const when = { active: 'yes', pending: 'from its next epoch on', absent: 'no' }[state];
  return `programs of SBPF version ${version}: ${when}${node === null ? '' : ` (its node runs ${node})`}`;
};

function programWords({ status }: ReturnType<typeof programFacts>, { paint }: Screen): string {
  if (status === 'absent') return paint.bad('There is nothing at this address.');
  if (status === 'not_a_program') return paint.bad('This account is not a program.');
  if (status === 'different') return paint.bad('Its bytes are not those of this version.');
  if (status === 'previous')
    return `${paint.good('✓')} the bytes of the version before: it serves intents, not authorizations`;
  return `${paint.good('✓')} the shipped bytes`;
}

const shownWallet = ({ role, state, address, lamports, leastLamports, usdcAtomic }: OperatorWallet) => ({
  role,
  state,
  address,
  sol: formatSol(lamports),
  needs_sol: formatSol(leastLamports),
  is_enough: lamports >= leastLamports,
  usdc: usdcAtomic === null ? null : formatUsdc(usdcAtomic),
});

const walletLines = (wallets: readonly ReturnType<typeof shownWallet>[], screen: Screen): string[] =>
  listLines(screen, wallets, [
    { title: 'Wallet', cell: ({ role, state }) => (state === 'current' ? role : `${role} (${state})`) },
    { title: 'Address', cell: ({ address }) => address },
    { title: 'SOL', align: 'right', cell: (one) => (one.is_enough ? one.sol : screen.paint.bad(one.sol)) },
    { title: 'Needs', align: 'right', cell: (one) => (one.needs_sol === '0' ? '–' : one.needs_sol) },
    { title: 'USDC', align: 'right', rank: 1, cell: ({ usdc }) => usdc ?? '–' },
  ]);
