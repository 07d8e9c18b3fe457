import type { Address, Instruction } from '@solana/kit';
import type { Clock } from '../../kernel/clock.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import {
  buildTransaction,
  type Cluster,
  closeBuffer,
  computeBudget,
  createBuffer,
  deployProgram,
  giveUpAuthority,
  PROGRAM_SIZE,
  programDataOf,
  readBuffer,
  type Signer,
  upgradeProgram,
  writeBuffer,
} from '../../solana/index.ts';
import { type InspectedProgram, inspectProgram, isShippedAt } from './inspect.ts';
import type { Deployment, DeploymentPlan } from './plan.ts';
import { CHUNK, missingChunks, planDeployment, requireFunds, UNITS } from './plan.ts';

export interface DeploymentPorts {
  readonly cluster: Cluster;
  readonly clock: Clock;
  /** Notes, before it is sent, until which block height the transaction that makes the buffer may land. */
  noteBufferUntil(lastValidBlockHeight: bigint): void;
  readonly signal?: AbortSignal | undefined;
  onStep?(step: DeploymentStep): void;
}

export type DeploymentStep =
  | { readonly kind: 'buffer' | 'deploy' | 'verify' | 'finalise' }
  | { readonly kind: 'write'; readonly done: number; readonly total: number };

const POLL_MS = 1_000;
/** How long a node may lag behind what another one has confirmed. */
const LONGEST_LAG_MS = 30_000;

/** Reads until `isSo`, for a while: one address may have several nodes, some of which lag behind the others. */
async function eventually<T>(
  { clock, signal }: Pick<DeploymentPorts, 'clock' | 'signal'>,
  read: () => Promise<T>,
  isSo: (value: T) => boolean,
): Promise<T> {
  const untilMs = clock.now() + LONGEST_LAG_MS;
  for (;;) {
    const value = await read();
    if (isSo(value) || clock.now() >= untilMs) return value;
    await clock.sleep(POLL_MS, signal);
    signal?.throwIfAborted();
  }
}

const TRIES = 3;

/** Acts unless the goal is reached, which excuses a lost answer; acts again if the blockhash was too old. */
async function unlessReached(isReached: () => Promise<boolean>, act: () => Promise<void>): Promise<void> {
  for (let attempt = 1; !(await isReached()); attempt++) {
    try {
      return await act();
    } catch (error) {
      if (isExpired(error) && attempt < TRIES) continue;
      if (!isProblem(error, 'cluster_failed', 'transaction_failed') || !(await isReached())) throw error;
    }
  }
}

/** True if the cluster refused a transaction for its age alone, so that it is not on its way. */
const isExpired = (error: unknown): boolean =>
  isProblem(error, 'transaction_failed') && error.detail?.error === 'BlockhashNotFound';

type Blockhash = Awaited<ReturnType<Cluster['latestBlockhash']>>;

async function send(
  { cluster }: Pick<DeploymentPorts, 'cluster'>,
  { payer, microLamports }: Pick<Deployment, 'payer' | 'microLamports'>,
  instructions: readonly Instruction[],
  blockhash: Blockhash,
  { signers = [], units = UNITS.small }: { readonly signers?: readonly Signer[]; readonly units?: number } = {},
): Promise<void> {
  const budgeted = [...computeBudget(units, microLamports), ...instructions];
  const { wire } = buildTransaction({ feePayer: payer, signers, instructions: budgeted, blockhash });
  try {
    await cluster.send(wire);
  } catch (error) {
    throw explained(error);
  }
}

/** Adds the reason in the loader's log to a refusal: the error itself is often a bare number. */
function explained(error: unknown): unknown {
  if (!isProblem(error, 'transaction_failed')) return error;
  const { logs } = error.detail ?? {};
  const lines = Array.isArray(logs) ? logs.map(String) : [];
  const reason = lines.findLast((line) => !FRAME.test(line))?.replace(/^Program log: /, '');
  if (reason === undefined) return error;
  return problem('transaction_failed', {
    message: `${error.message.replace(/\.$/, '')} (${reason}).`,
    ...(error.detail && { detail: error.detail }),
    cause: error,
  });
}

/** Lines of a log that say where a program begins and ends. */
const FRAME = /^Program \w+ (invoke|consumed|success|failed)\b/;

type Present = Extract<InspectedProgram, { kind: 'present' }>;

const LONGEST_FINAL_MS = 120_000;

/** Completes a deployment. Each step reads the chain first: a repetition costs only fees of lost answers. */
export async function carryOut(ports: DeploymentPorts, deployment: Deployment): Promise<Present> {
  const { cluster } = ports;
  const plan = await planDeployment(cluster, deployment);
  requireFunds(plan, deployment.payer.address);
  if (!(plan.program.kind === 'present' && plan.program.isShipped)) {
    if (!plan.hasBuffer) await makeBuffer(ports, deployment, plan);
    await fillBuffer(ports, deployment);
    await putInPlace(ports, deployment);
  }
  ports.onStep?.({ kind: 'verify' });
  const found = await verified(ports, deployment);
  return deployment.isFinal && found.upgradeAuthority !== null ? finalise(ports, deployment) : found;
}

async function verified(ports: DeploymentPorts, { program, elf }: Deployment): Promise<Present> {
  const found = await eventually(
    ports,
    () => inspectProgram(ports.cluster, program, elf),
    (one) => one.kind === 'present' && one.isShipped,
  );
  if (found.kind === 'present' && found.isShipped) return found;
  throw problem('program_differs', { detail: { program, found: found.kind } });
}

async function putInPlace(ports: DeploymentPorts, deployment: Deployment): Promise<void> {
  const { payer, buffer, program, programSigner, elf } = deployment;
  const { cluster } = ports;
  ports.onStep?.({ kind: 'deploy' });
  const programData = await programDataOf(program);
  const place = { program, programData, buffer: buffer.address, authority: payer.address };
  const rent = await cluster.minimumRent(PROGRAM_SIZE);
  const instructions = programSigner
    ? deployProgram({ ...place, payer: payer.address, lamports: rent, size: elf.length })
    : [upgradeProgram({ ...place, spill: payer.address })];
  await unlessReached(
    () => isShippedAt(cluster, program, elf),
    async () => {
      const signers = programSigner ? [programSigner] : [];
      await send(ports, deployment, instructions, await cluster.latestBlockhash(), { signers, units: UNITS.deploy });
    },
  );
}

/** Gives the authority up, once the right bytes are final. */
async function finalise(ports: DeploymentPorts, deployment: Deployment): Promise<Present> {
  const { cluster, clock } = ports;
  const { program, payer } = deployment;
  ports.onStep?.({ kind: 'finalise' });
  const untilMs = clock.now() + LONGEST_FINAL_MS;
  const finalized = { accounts: (of: readonly Address[]) => cluster.accounts(of, { finalized: true }) };
  while (!(await isShippedAt(finalized, program, deployment.elf))) {
    // The program must not have changed meanwhile.
    await verified(ports, deployment);
    if (clock.now() >= untilMs) throw problem('not_final');
    await clock.sleep(POLL_MS, ports.signal);
    ports.signal?.throwIfAborted();
  }
  const instructions = [giveUpAuthority(await programDataOf(program), payer.address)];
  await unlessReached(
    async () => (await verified(ports, deployment)).upgradeAuthority === null,
    async () => send(ports, deployment, instructions, await cluster.latestBlockhash()),
  );
  return eventually(
    ports,
    () => verified(ports, deployment),
    ({ upgradeAuthority }) => upgradeAuthority === null,
  );
}

const AT_ONCE = 4;

/** Rounds of writes without any new chunk, before it gives up for now. */
const VAIN_ROUNDS = 3;

/** Makes the buffer. Its keys, and how long its transaction may land, are kept before that is sent. */
async function makeBuffer(ports: DeploymentPorts, deployment: Deployment, { bufferRent }: DeploymentPlan) {
  const { payer, buffer, elf } = deployment;
  const { cluster } = ports;
  ports.onStep?.({ kind: 'buffer' });
  const instructions = createBuffer({
    payer: payer.address,
    buffer: buffer.address,
    authority: payer.address,
    lamports: bufferRent,
    size: elf.length,
  });
  await unlessReached(
    async () => (await cluster.accounts([buffer.address]))[0] !== null,
    async () => {
      const blockhash = await cluster.latestBlockhash();
      ports.noteBufferUntil(blockhash.lastValidBlockHeight);
      await send(ports, deployment, instructions, blockhash, { signers: [buffer] });
    },
  );
}

/** Writes the chunks that the buffer lacks, reading it again to see which were lost, until it lacks none. */
async function fillBuffer(ports: DeploymentPorts, deployment: Deployment): Promise<void> {
  let [least, vain] = [Number.POSITIVE_INFINITY, 0];
  let lastError: unknown = null;
  const read = () => lackingIn(ports, deployment);
  let missing = await eventually(ports, read, (chunks) => chunks !== null);
  while (missing === null || missing.length > 0) {
    ports.signal?.throwIfAborted();
    if (missing === null) throw problem('cluster_failed', { message: 'The buffer that was made is not there.' });
    vain = missing.length < least ? 0 : vain + 1;
    least = missing.length;
    if (vain >= VAIN_ROUNDS) throw lastError ?? problem('cluster_failed');
    lastError = await writeChunks(ports, deployment, missing);
    // After a failure it reads only once: missing chunks are written again.
    missing = lastError ? await read() : await eventually(ports, read, (chunks) => chunks?.length === 0);
  }
}

/** The chunks that are not written yet; null if there is no buffer. */
async function lackingIn({ cluster }: DeploymentPorts, deployment: Deployment): Promise<number[] | null> {
  const [account] = await cluster.accounts([deployment.buffer.address]);
  if (account) return missingChunks(deployment, account);
  // A transaction whose answer was lost may have put the program in place.
  return (await isShippedAt(cluster, deployment.program, deployment.elf)) ? [] : null;
}

/** @returns the last failure that leaves a write's outcome open; null if there was none */
async function writeChunks(ports: DeploymentPorts, deployment: Deployment, missing: readonly number[]) {
  const { cluster, signal } = ports;
  const { buffer, payer, elf } = deployment;
  const total = Math.ceil(elf.length / CHUNK);
  let done = total - missing.length;
  let lastError: unknown = null;
  const left = [...missing];
  const blockhash = await cluster.latestBlockhash();
  const writer = async () => {
    for (let at = left.shift(); at !== undefined; at = left.shift()) {
      signal?.throwIfAborted();
      ports.onStep?.({ kind: 'write', done, total });
      const instructions = [writeBuffer(buffer.address, payer.address, at, elf.subarray(at, at + CHUNK))];
      try {
        await send(ports, deployment, instructions, blockhash);
        done++;
      } catch (error) {
        // Another process of this home may have put the program in place meanwhile: then there is no buffer.
        if (isProblem(error, 'transaction_failed') && (await lackingIn(ports, deployment))?.length === 0) return;
        if (!isProblem(error, 'cluster_failed') && !isExpired(error)) throw error;
        lastError = error;
        // The chunks that are left have the same blockhash.
        if (isExpired(error)) left.length = 0;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, writer));
  return lastError;
}

/** Closes an abandoned buffer, and returns its lamports. It may be made until block height `until`; null: never. */
export async function reclaimBuffer(
  ports: Omit<DeploymentPorts, 'noteBufferUntil'>,
  deployment: Pick<Deployment, 'buffer' | 'payer' | 'microLamports'>,
  until: bigint | null,
): Promise<bigint> {
  const { cluster, clock } = ports;
  const { buffer, payer } = deployment;
  const read = async () => (await cluster.accounts([buffer.address]))[0] ?? null;
  let account = await read();
  while (account === null && until !== null && (await cluster.finalizedBlockHeight()) <= until) {
    // The buffer may still be made, and would then be forgotten.
    await clock.sleep(POLL_MS, ports.signal);
    ports.signal?.throwIfAborted();
    account = await read();
  }
  if (account === null || readBuffer(account)?.authority !== payer.address) return 0n;
  const instructions = [closeBuffer(buffer.address, payer.address, payer.address)];
  await unlessReached(
    async () => (await read()) === null,
    async () => send(ports, deployment, instructions, await cluster.latestBlockhash()),
  );
  return account.lamports;
}
