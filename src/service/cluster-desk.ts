import { createHash, randomBytes } from 'node:crypto';
import type { Address } from '@solana/kit';
import {
  carryOut,
  type Deployment,
  type DeploymentRecord,
  type DeploymentRecords,
  inspectProgram,
  mayChange,
  planDeployment,
  reclaimBuffer,
  requireFunds,
} from '../escrow/deployment/index.ts';
import { ESCROW_PROGRAM_ID, escrowElf } from '../escrow/index.ts';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { silentLog } from '../kernel/log.ts';
import { problem } from '../kernel/problems.ts';
import { farelock } from '../kernel/shell-word.ts';
import { LEAST_LAMPORTS } from '../payments/index.ts';
import {
  associatedTokenAddress,
  decodeMint,
  decodeTokenAccount,
  EMBEDDED_CLUSTER,
  rpcUrl as resolvedUrl,
  type Signer,
  signerFromSeed,
} from '../solana/index.ts';
import { checkDatabaseUrl } from '../store/index.ts';
import { openRealCluster } from './cluster.ts';
import { type Home, openHome, openOperatorKeys } from './home.ts';
import { deployedProgram, deploymentsOf } from './program.ts';
import type {
  ClusterDesk,
  DecidedDeployment,
  DeploymentWanted,
  OpenClusterDesk,
  OperatorWallet,
  ReclaimedBuffer,
} from './types.ts';

type Keys = Pick<Home['keys'], 'authority' | 'facilitator' | 'treasury'>;

/** Everything that deployments of one home on one cluster stand on. */
interface Ground {
  readonly cluster: ClusterDesk['cluster'];
  readonly clock: Clock;
  readonly authority: Signer;
  readonly records: DeploymentRecords;
  readonly elf: Uint8Array;
  /** Of the settings. */
  readonly named: Address | null;
}

/** The operator's desk for a cluster: the program on it, the wallets, and deployments. */
export const openClusterDesk: OpenClusterDesk = async (options) => {
  const { home, cluster: settings = EMBEDDED_CLUSTER, clock = systemClock } = options;
  if (options.databaseUrl !== undefined) checkDatabaseUrl(options.databaseUrl);
  const own = settings.rpcUrls.length > 0 ? null : await openHome(options, () => undefined, null);
  const opened = own ?? (await openRealCluster(settings, { clock, log: silentLog }));
  const { cluster, faucet } = opened;
  const { usdcMint } = cluster;
  const keys: Keys = own?.keys ?? (await openOperatorKeys(options));
  const ground: Ground = {
    ...{ cluster, clock, elf: escrowElf(), authority: keys.authority },
    records: deploymentsOf(home, opened),
    named: settings.escrowPrograms[0] ?? null,
  };
  return {
    cluster,
    rpcUrl: settings.rpcUrls.map(resolvedUrl)[0] ?? null,
    faucet,
    program: () => programOf(ground),
    inspect: (program) => inspectProgram(cluster, program),
    async mint() {
      const [account] = await cluster.accounts([usdcMint]);
      const found = account ? decodeMint(account.data) : null;
      return { address: usdcMint, decimals: found?.decimals ?? null };
    },
    wallets: () => walletsOf(cluster, keys, { mint: usdcMint, leastLamports: faucet ? 0n : LEAST_LAMPORTS }),
    decide: (wanted) => decide(ground, wanted),
    abort: (payer, signal) => abort(ground, payer, signal),
    async close() {
      try {
        await own?.noteProgress();
      } finally {
        await own?.store.destroy();
        await cluster.close();
      }
    },
  };
};

/** The program of the settings, else the one that this home has deployed there. */
const programOf = async ({ named, records, cluster }: Ground): Promise<Address> =>
  named ?? (await deployedProgram(cluster, records));

async function walletsOf(
  cluster: ClusterDesk['cluster'],
  { authority, facilitator, treasury }: Keys,
  // The faucet fills the wallets of a service by itself.
  { mint, leastLamports }: { readonly mint: Address; readonly leastLamports: bigint },
): Promise<OperatorWallet[]> {
  const owners = [authority.address, facilitator.address, treasury.address];
  const tokenAccounts = await Promise.all(owners.map((owner) => associatedTokenAddress(owner, mint)));
  const accounts = await cluster.accounts([...owners, ...tokenAccounts]);
  const wallet = (role: OperatorWallet['role'], at: number, least: bigint): OperatorWallet => {
    const tokens = accounts[at + owners.length];
    return {
      role,
      address: owners[at] ?? authority.address,
      lamports: accounts[at]?.lamports ?? 0n,
      leastLamports: least,
      usdcAtomic: tokens ? (decodeTokenAccount(tokens.data)?.amount ?? null) : null,
    };
  };
  return [
    wallet('authority', 0, leastLamports),
    wallet('facilitator', 1, leastLamports),
    // Nothing is signed with it before it pays out, and those fees are the authority's.
    wallet('treasury', 2, 0n),
  ];
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** @throws Problem `deployment_conflict`, `program_not_upgradeable`, `keypair_unreadable`, `cluster_failed` */
async function decide(ground: Ground, wanted: DeploymentWanted): Promise<DecidedDeployment> {
  const { cluster, records } = ground;
  const open = records.current();
  const record = open ? resumed(ground, open, wanted) : await begun(ground, wanted);
  const deployment = deploymentOf(ground, record, wanted.payer);
  const plan = await planDeployment(cluster, deployment);
  const { program: found } = plan;
  // A program that is named is to be kept up to date from here: somebody else's can't be.
  if (wanted.program !== null && found.kind === 'present' && found.upgradeAuthority !== null)
    mayChange(deployment, found);
  return {
    kind: record.kind,
    isResumed: open !== null,
    program: record.program,
    buffer: record.buffer,
    payer: deployment.payer.address,
    isFinal: record.final,
    sha256: record.sha256,
    plan,
    async carryOut(ports) {
      if (plan.transactions === 0 && open === null) return { ...(await inspectedAgain()), isUnchanged: true };
      requireFunds(plan, deployment.payer.address);
      // Of two that begin at once, the second one's keys are not used.
      let kept = open === null ? records.begin(record) : record;
      if (open !== null) records.update(kept);
      const noteBufferUntil = (height: bigint) => {
        kept = { ...kept, buffer_until: String(height) };
        records.update(kept);
      };
      const found = await carryOut(
        { ...ports, cluster, clock: ground.clock, noteBufferUntil },
        deploymentOf(ground, kept, wanted.payer),
      );
      records.end(kept, 'done');
      return { program: kept.program, found, isUnchanged: false };
    },
  };
  async function inspectedAgain() {
    const found = await inspectProgram(cluster, record.program, ground.elf);
    if (found.kind !== 'present') throw problem('program_differs', { detail: { program: record.program } });
    return { program: record.program, found };
  }
}

/** The record of a deployment that begins now; nothing is written yet. */
async function begun(ground: Ground, wanted: DeploymentWanted): Promise<DeploymentRecord> {
  const { cluster, clock, elf } = ground;
  const target = wanted.programSeed || wanted.isNew ? null : (wanted.program ?? (await presentProgram(ground)));
  const programSeed = target === null ? (wanted.programSeed ?? new Uint8Array(randomBytes(32))) : null;
  const bufferSeed = new Uint8Array(randomBytes(32));
  return {
    form: 1,
    state: 'open',
    kind: programSeed ? 'deploy' : 'upgrade',
    network: cluster.network,
    program: programSeed ? signerFromSeed(programSeed).address : (target ?? ESCROW_PROGRAM_ID),
    program_seed: programSeed && Buffer.from(programSeed).toString('hex'),
    buffer: signerFromSeed(bufferSeed).address,
    buffer_seed: Buffer.from(bufferSeed).toString('hex'),
    payer: (wanted.payer ?? ground.authority).address,
    sha256: sha256(elf),
    micro_lamports: String(wanted.microLamports ?? 0n),
    final: wanted.isFinal,
    buffer_until: null,
    begun_at: new Date(clock.now()).toISOString(),
  };
}

async function presentProgram(ground: Ground): Promise<Address | null> {
  const program = await programOf(ground);
  return (await inspectProgram(ground.cluster, program)).kind === 'present' ? program : null;
}

/** @throws Problem `deployment_conflict`: it is not the one that is wanted now */
function resumed({ elf }: Ground, open: DeploymentRecord, wanted: DeploymentWanted): DeploymentRecord {
  const named = wanted.programSeed ? signerFromSeed(wanted.programSeed).address : wanted.program;
  if (open.sha256 !== sha256(elf)) {
    throw problem('deployment_conflict', {
      message: `A deployment of another version of the program was begun at ${open.begun_at}.`,
      next: [farelock`cluster deploy --abort`],
    });
  }
  if (named !== null && named !== open.program) {
    throw problem('deployment_conflict', {
      message: `A deployment to ${open.program} was begun at ${open.begun_at}, and has not ended.`,
      fix: 'Finish it first, or take its rent back with farelock cluster deploy --abort.',
      next: [farelock`cluster deploy`, farelock`cluster deploy --abort`],
    });
  }
  const price = wanted.microLamports === null ? open.micro_lamports : String(wanted.microLamports);
  return { ...open, final: open.final || wanted.isFinal, micro_lamports: price };
}

const signerOf = (seed: string): Signer => signerFromSeed(new Uint8Array(Buffer.from(seed, 'hex')));

/** @throws Problem `deployment_conflict`: another key began it */
function deploymentOf(
  { authority, elf }: Pick<Ground, 'authority' | 'elf'>,
  record: DeploymentRecord,
  payer: Signer | null,
): Deployment {
  const own = [payer, authority].find((one) => one?.address === record.payer);
  if (!own) {
    throw problem('deployment_conflict', {
      message: `The deployment that was begun at ${record.begun_at} is paid by ${record.payer}.`,
      fix: `Give the keypair of ${record.payer} with --keypair.`,
    });
  }
  return {
    kind: record.kind,
    program: record.program,
    programSigner: record.program_seed === null ? null : signerOf(record.program_seed),
    buffer: signerOf(record.buffer_seed),
    payer: own,
    elf,
    microLamports: BigInt(record.micro_lamports),
    isFinal: record.final,
  };
}

/** Closes every buffer that this home has made on the cluster and not used. */
async function abort(
  ground: Ground,
  payer: Signer | null,
  signal: AbortSignal | undefined,
): Promise<ReclaimedBuffer[]> {
  const { cluster, clock, records } = ground;
  const open = records.current();
  const reclaimed: ReclaimedBuffer[] = [];
  const reclaim = async (record: DeploymentRecord, until: bigint | null) => {
    const deployment = deploymentOf(ground, record, payer);
    const lamports = await reclaimBuffer({ cluster, clock, signal }, deployment, until);
    if (lamports > 0n) reclaimed.push({ buffer: record.buffer, lamports });
  };
  if (open) {
    await reclaim(open, open.buffer_until === null ? null : BigInt(open.buffer_until));
    // The last transaction of it may have landed all the same.
    const found = await inspectProgram(cluster, open.program, ground.elf);
    records.end(open, found.kind === 'present' && found.isShipped && open.kind === 'deploy' ? 'done' : 'aborted');
  }
  const mine = new Set([payer?.address, ground.authority.address]);
  for (const record of records.ended()) if (mine.has(record.payer)) await reclaim(record, null);
  return reclaimed;
}
