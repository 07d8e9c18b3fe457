import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Address } from '@solana/kit';
import {
  carryOut,
  type Deployment,
  type DeploymentPorts,
  type DeploymentRecord,
  type DeploymentRecords,
  type DeploymentStep,
  type InspectedProgram,
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
  type Cluster,
  decodeMint,
  decodeTokenAccount,
  EMBEDDED_CLUSTER,
  rpcUrl as resolvedUrl,
  type Signer,
  signerFromSeed,
  supportOf,
} from '../solana/index.ts';
import { checkDatabaseUrl, GENESIS, type KeyDuty, readMark } from '../store/index.ts';
import { openRealCluster } from './cluster.ts';
import { type Home, openHome, openOperatorKeys, openStore } from './home.ts';
import { deployedProgram, deploymentsOf } from './program.ts';
import type { Rotation, RotationStep } from './rotation.ts';
import type { ServiceOptions } from './types.ts';

export type { DeploymentStep, InspectedProgram };

export interface DeploymentWanted {
  /** Pays, and becomes the upgrade authority; null for the home's authority. */
  readonly payer: Signer | null;
  /** An existing program to upgrade; null for this home's program, or a new one if it has none. */
  readonly program: Address | null;
  readonly programSeed: Uint8Array | null;
  /** Deploys a new program, even if there is one already. */
  readonly isNew: boolean;
  readonly isFinal: boolean;
  /** Micro-lamports per compute unit; null for none, or the price of the open deployment. */
  readonly microLamports: bigint | null;
}

export type OperatorWallet = Awaited<ReturnType<typeof walletsOf>>[number];
export type DecidedDeployment = Awaited<ReturnType<typeof decide>>;
export type ClusterDesk = Awaited<ReturnType<typeof openClusterDesk>>;

type Keys = Pick<Home['keys'], 'authority' | 'treasury' | 'listed'>;

interface Ground {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly authority: Signer;
  readonly records: DeploymentRecords;
  readonly elf: Uint8Array;
  readonly named: Address | null;
}

/** Opens the operator's desk for a cluster (`farelock cluster`): its program, the wallets, and deployments. */
export async function openClusterDesk(options: Pick<ServiceOptions, 'home' | 'clock' | 'databaseUrl' | 'cluster'>) {
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
    /** The cluster's RPC address, which may contain a key; null for the embedded cluster. */
    rpcUrl: settings.rpcUrls.map(resolvedUrl)[0] ?? null,
    /** Null unless the cluster is the embedded one. */
    faucet,
    program: () => programOf(ground),
    support: () => supportOf(ground.elf, cluster),
    inspect: (program: Address): Promise<InspectedProgram> => inspectProgram(cluster, program),
    /** The mint of USDC; `decimals` is null if the cluster has no such mint. */
    async mint() {
      const [account] = await cluster.accounts([usdcMint]);
      const found = account ? decodeMint(account.data) : null;
      return { address: usdcMint, decimals: found?.decimals ?? null };
    },
    /** The keys that seal private fields; empty before their first rotation. */
    ring: () => keys.listed('service'),
    /** Takes a step of a key's rotation, or with null only reports its state. */
    async rotate(duty: KeyDuty, step: RotationStep | null): Promise<Rotation> {
      const { rotate } = await import('./rotation.ts');
      const store = own?.store ?? (await openStore(options.databaseUrl ?? join(home, 'service.db')));
      try {
        const genesis = await readMark(store, GENESIS);
        if (genesis !== null && genesis !== opened.genesis) throw problem('genesis_unexpected');
        const program = await programOf(ground);
        return await rotate({ store, cluster, clock, program, faucet, folder: join(home, 'keys') }, duty, step);
      } finally {
        if (!own) await store.destroy();
      }
    },
    wallets: () => walletsOf(cluster, keys, { mint: usdcMint, leastLamports: faucet ? 0n : LEAST_LAMPORTS }),
    decide: (wanted: DeploymentWanted) => decide(ground, wanted),
    /** Closes every unused buffer of this home, and ends the open deployment. */
    abort: (payer: Signer | null, signal?: AbortSignal) => abort(ground, payer, signal),
    async close() {
      try {
        await own?.noteProgress();
      } finally {
        await own?.store.destroy();
        await cluster.close();
      }
    },
  };
}

const programOf = async ({ named, records, cluster }: Ground): Promise<Address> =>
  named ?? (await deployedProgram(cluster, records));

async function walletsOf(
  cluster: Cluster,
  { treasury, listed }: Keys,
  // A faucet fills the wallets: no minimum then.
  { mint, leastLamports }: { readonly mint: Address; readonly leastLamports: bigint },
) {
  const keys = [
    ...(['authority', 'facilitator'] as const).flatMap((role) => listed(role).map((key) => ({ ...key, role }))),
    { role: 'treasury', name: treasury.address, state: 'current' } as const,
  ];
  const owners = keys.map(({ name }) => name as Address);
  const tokenAccounts = await Promise.all(owners.map((owner) => associatedTokenAddress(owner, mint)));
  const accounts = await cluster.accounts([...owners, ...tokenAccounts]);
  return keys.map(({ role, name, state }, at) => {
    const tokens = accounts[at + owners.length];
    return {
      ...{ role, state },
      address: name as Address,
      lamports: accounts[at]?.lamports ?? 0n,
      // The treasury needs no SOL: the authority pays its fees, and those for the escrows of older authorities.
      leastLamports: role !== 'treasury' && (state === 'current' || state === 'next') ? leastLamports : 0n,
      /** Null if it has no token account yet. */
      usdcAtomic: tokens ? (decodeTokenAccount(tokens.data)?.amount ?? null) : null,
    };
  });
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/**
 * Plans a deployment before anything is written or sent.
 * @throws Problem `deployment_conflict`, `program_not_upgradeable`, `keypair_unreadable`, `cluster_failed`
 */
async function decide(ground: Ground, wanted: DeploymentWanted) {
  const { cluster, records } = ground;
  const open = records.current();
  const record = open ? resumed(ground, open, wanted) : await begun(ground, wanted);
  const deployment = deploymentOf(ground, record, wanted.payer);
  const plan = await planDeployment(cluster, deployment);
  const { program: found } = plan;
  // A program that was named will be upgraded from here, which needs its upgrade authority.
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
    /** Saves its keys in the home, then takes the steps that are left. May be called again after any failure. */
    async carryOut(ports: Pick<DeploymentPorts, 'signal' | 'onStep'>) {
      if (plan.transactions === 0 && open === null) return { ...(await inspectedAgain()), isUnchanged: true };
      requireFunds(plan, deployment.payer.address);
      // If two processes begin at once, both go on with the keys of the first.
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

/** @throws Problem `deployment_conflict` if another deployment is wanted */
function resumed({ elf }: Ground, open: DeploymentRecord, wanted: DeploymentWanted): DeploymentRecord {
  const named = wanted.programSeed ? signerFromSeed(wanted.programSeed).address : wanted.program;
  if (open.sha256 !== sha256(elf)) {
    throw problem('deployment_conflict', {
      message: `A deployment of another version of the program began at ${open.begun_at}.`,
      next: [farelock`cluster deploy --abort`],
    });
  }
  if (named !== null && named !== open.program) {
    throw problem('deployment_conflict', {
      message: `A deployment to ${open.program} began at ${open.begun_at} and has not finished.`,
      fix: 'Finish it first, or take its rent back with farelock cluster deploy --abort.',
      next: [farelock`cluster deploy`, farelock`cluster deploy --abort`],
    });
  }
  const price = wanted.microLamports === null ? open.micro_lamports : String(wanted.microLamports);
  return { ...open, final: open.final || wanted.isFinal, micro_lamports: price };
}

const signerOf = (seed: string): Signer => signerFromSeed(new Uint8Array(Buffer.from(seed, 'hex')));

/** @throws Problem `deployment_conflict` if another key began it */
function deploymentOf(
  { authority, elf }: Pick<Ground, 'authority' | 'elf'>,
  record: DeploymentRecord,
  payer: Signer | null,
): Deployment {
  const own = [payer, authority].find((one) => one?.address === record.payer);
  if (!own) {
    throw problem('deployment_conflict', {
      message: `The deployment of ${record.begun_at} is paid by ${record.payer}.`,
      fix: `Name the keypair of ${record.payer} with --keypair.`,
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

async function abort(ground: Ground, payer: Signer | null, signal: AbortSignal | undefined) {
  const { cluster, clock, records } = ground;
  const open = records.current();
  const reclaimed: { readonly buffer: Address; readonly lamports: bigint }[] = [];
  const reclaim = async (record: DeploymentRecord, until: bigint | null) => {
    const deployment = deploymentOf(ground, record, payer);
    const lamports = await reclaimBuffer({ cluster, clock, signal }, deployment, until);
    if (lamports > 0n) reclaimed.push({ buffer: record.buffer, lamports });
  };
  if (open) {
    await reclaim(open, open.buffer_until === null ? null : BigInt(open.buffer_until));
    // Its last transaction may have landed all the same.
    const found = await inspectProgram(cluster, open.program, ground.elf);
    records.end(open, found.kind === 'present' && found.isShipped && open.kind === 'deploy' ? 'done' : 'aborted');
  }
  const mine = new Set([payer?.address, ground.authority.address]);
  for (const record of records.ended()) if (mine.has(record.payer)) await reclaim(record, null);
  return reclaimed;
}
