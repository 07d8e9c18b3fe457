import type { Address } from '@solana/kit';
import { formatSol } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import { farelock } from '../../kernel/shell-word.ts';
import {
  BUFFER_HEAD,
  type Cluster,
  LAMPORTS_PER_SIGNATURE,
  PROGRAM_DATA_HEAD,
  PROGRAM_SIZE,
  readBuffer,
  type Signer,
  supportOf,
  type VersionSupport,
} from '../../solana/index.ts';
import { type InspectedProgram, inspectProgram } from './inspect.ts';

/** A deployment or upgrade that was decided on. It has no progress: the chain says how far it has come. */
export interface Deployment {
  readonly kind: 'deploy' | 'upgrade';
  readonly program: Address;
  /** Signs for the address of a new program; null for an upgrade. */
  readonly programSigner: Signer | null;
  readonly buffer: Signer;
  /** Pays, and is the authority of buffer and program. */
  readonly payer: Signer;
  readonly elf: Uint8Array;
  /** The bid for each compute unit, on top of the fee for each signature. */
  readonly microLamports: bigint;
  readonly isFinal: boolean;
}

/** Compute units that each transaction may use. The loader takes about 2,700 for one instruction. */
export const UNITS = { small: 4_000, deploy: 10_000 } as const;
/** Bytes of code in one transaction: 1,232 less 274 for signature, accounts and instructions; a multiple of eight. */
export const CHUNK = 952;

export type DeploymentPlan = Awaited<ReturnType<typeof planDeployment>>;

/** Finds the rest of a deployment and its cost. @throws Problem `deployment_conflict`, `program_…`, `cluster_failed` */
export async function planDeployment(cluster: Cluster, deployment: Deployment) {
  const { elf, payer, buffer, kind } = deployment;
  const program = await inspectProgram(cluster, deployment.program, elf);
  const [holder, held] = await cluster.accounts([payer.address, buffer.address]);
  const isDone = program.kind === 'present' && program.isShipped;
  if (!isDone) mayGoAhead(deployment, program);
  if (!isDone) requireSupport(await supportOf(elf, cluster));
  const gives = deployment.isFinal && !(program.kind === 'present' && program.upgradeAuthority === null);
  if (isDone && gives) mayChange(deployment, program);
  const missing = isDone ? [] : held ? missingChunks(deployment, held) : chunksOf(elf);
  const [programRent, dataRent, bufferRent, keepsOpen] = await Promise.all(
    [PROGRAM_SIZE, PROGRAM_DATA_HEAD + elf.length, BUFFER_HEAD + elf.length, 0].map(cluster.minimumRent),
  );
  const makesBuffer = !isDone && !held;
  const { microLamports } = deployment;
  const fee = (signatures: bigint, units: number): bigint =>
    signatures * LAMPORTS_PER_SIGNATURE + (BigInt(units) * microLamports + 999_999n) / 1_000_000n;
  const fees =
    (makesBuffer ? fee(2n, UNITS.small) : 0n) +
    BigInt(missing.length) * fee(1n, UNITS.small) +
    (isDone ? 0n : fee(kind === 'deploy' ? 2n : 1n, UNITS.deploy)) +
    (gives ? fee(1n, UNITS.small) : 0n);
  const rent = kind === 'deploy' ? (programRent ?? 0n) + (dataRent ?? 0n) : 0n;
  // The buffer's rent comes back before the code's is paid; an upgrade only borrows it.
  const most = kind === 'deploy' ? rent : (bufferRent ?? 0n);
  return {
    program,
    hasBuffer: held !== null && held !== undefined,
    /** Offsets of the chunks that the buffer does not hold yet. */
    missing,
    /** Rent of program and code, locked while the program exists: for good once its authority is given up. */
    rent,
    /** Rent of the buffer, which comes back at the end. */
    bufferRent: bufferRent ?? 0n,
    /** Fees of all transactions that are left, if none has to be repeated. */
    fees,
    transactions: (makesBuffer ? 1 : 0) + missing.length + (isDone ? 0 : 1) + (gives ? 1 : 0),
    /** The balance that the payer needs now. An account that pays fees must keep its own rent. */
    needed: (isDone ? 0n : most - (held?.lamports ?? 0n)) + fees + (keepsOpen ?? 0n),
    balance: holder?.lamports ?? 0n,
  };
}

/** Checked before any rent is paid: the loader refuses only at the end. */
function requireSupport({ state, version, node }: VersionSupport): void {
  if (state === 'active') return;
  const runs = node === null ? '' : ` Its node runs ${node}.`;
  throw problem('program_version_unsupported', {
    message:
      state === 'pending'
        ? `The cluster accepts programs of SBPF version ${version} from its next epoch on.${runs}`
        : `The cluster does not accept programs of SBPF version ${version}.${runs}`,
    ...(state === 'pending' && { fix: 'Nothing was sent; deploy in the next epoch.' }),
    detail: { sbpf_version: version, state, node_version: node },
  });
}

export function requireFunds({ needed, balance }: DeploymentPlan, payer: Address): void {
  if (balance >= needed) return;
  throw problem('insufficient_funds', {
    message: `The deployment needs ${formatSol(needed)} SOL, and ${payer} has ${formatSol(balance)}.`,
    fix: `Send ${formatSol(needed - balance)} SOL to ${payer}, then run the command again. Nothing was sent.`,
    next: [farelock`cluster keys`],
    detail: { address: payer, needed: String(needed), balance: String(balance) },
  });
}

function mayGoAhead({ kind, program, payer, elf }: Deployment, found: InspectedProgram): void {
  if (kind === 'deploy') {
    if (found.kind === 'absent') return;
    throw conflict(`There is something else at ${program} already.`);
  }
  if (found.kind !== 'present') throw conflict(`There is no program at ${program}.`);
  mayChange({ program, payer }, found);
  if (found.size < elf.length) {
    throw problem('program_not_upgradeable', {
      message: `The program at ${program} has room for ${found.size} bytes, and the new one has ${elf.length}.`,
    });
  }
}

export function mayChange(
  { program, payer }: Pick<Deployment, 'program' | 'payer'>,
  found: Extract<InspectedProgram, { kind: 'present' }>,
): void {
  if (found.upgradeAuthority !== payer.address) {
    throw problem('program_not_upgradeable', {
      message:
        found.upgradeAuthority === null
          ? `The program at ${program} can no longer be changed.`
          : `Only ${found.upgradeAuthority} can change the program at ${program}.`,
    });
  }
}

const conflict = (message: string) => problem('deployment_conflict', { message });

const chunksOf = (elf: Uint8Array): number[] =>
  Array.from({ length: Math.ceil(elf.length / CHUNK) }, (_, index) => index * CHUNK);

/** The chunks that a buffer lacks. @throws Problem `deployment_conflict`: it is not our buffer for these bytes */
export function missingChunks(
  { buffer, payer, elf }: Deployment,
  account: NonNullable<Parameters<typeof readBuffer>[0]>,
): number[] {
  const held = readBuffer(account);
  if (held?.authority !== payer.address || held.code.length !== elf.length)
    throw conflict(`The account at ${buffer.address} is not the buffer of this deployment.`);
  return chunksOf(elf).filter(
    (at) => Buffer.compare(held.code.subarray(at, at + CHUNK), elf.subarray(at, at + CHUNK)) !== 0,
  );
}
