import type { Address } from '@solana/kit';
import { isProblem, problem } from '../../kernel/problems.ts';
import {
  closeBuffer,
  createBuffer,
  deployProgram,
  giveUpAuthority,
  PROGRAM_SIZE,
  programDataOf,
  readBuffer,
  upgradeProgram,
  writeBuffer,
} from '../../solana/index.ts';
import { type InspectedProgram, inspectProgram, isShippedAt } from './inspect.ts';
import {
  CHUNK,
  type Deployment,
  type DeploymentPlan,
  missingChunks,
  planDeployment,
  requireFunds,
  UNITS,
} from './plan.ts';
import { type DeploymentPorts, eventually, isExpired, POLL_MS, send, unlessReached } from './sending.ts';

type Present = Extract<InspectedProgram, { kind: 'present' }>;

const LONGEST_FINAL_MS = 120_000;

/**
 * Does what is left of a deployment. Every step looks at the chain first, so that it can be interrupted anywhere and
 * called again: it goes on where it was, and nothing is paid for twice but the fee of a transaction whose answer was
 * lost.
 * @returns the program as it is now
 * @throws Problem `insufficient_funds`, `deployment_conflict`, `program_not_upgradeable`, `program_differs`, `not_final`,
 *   `transaction_failed`, `cluster_failed`
 */
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

/** @throws Problem `program_differs` */
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
  const { payer, buffer, program, programSigner, elf, microLamports } = deployment;
  const { cluster } = ports;
  ports.onStep?.({ kind: 'deploy' });
  const place = {
    program,
    programData: await programDataOf(program),
    buffer: buffer.address,
    authority: payer.address,
  };
  const rent = await cluster.minimumRent(PROGRAM_SIZE);
  const instructions = programSigner
    ? deployProgram({ ...place, payer: payer.address, lamports: rent, size: elf.length })
    : [upgradeProgram({ ...place, spill: payer.address })];
  await unlessReached(
    () => isShippedAt(cluster, program, elf),
    async () => {
      const blockhash = await cluster.latestBlockhash();
      const signers = programSigner ? [programSigner] : [];
      await send(ports, { instructions, payer, signers, microLamports, units: UNITS.deploy, blockhash });
    },
  );
}

/** Gives the authority up, once nobody can take the right bytes back. */
async function finalise(ports: DeploymentPorts, deployment: Deployment): Promise<Present> {
  const { cluster, clock } = ports;
  const { program, payer, microLamports } = deployment;
  ports.onStep?.({ kind: 'finalise' });
  const untilMs = clock.now() + LONGEST_FINAL_MS;
  const finalized = { accounts: (of: readonly Address[]) => cluster.accounts(of, { finalized: true }) };
  while (!(await isShippedAt(finalized, program, deployment.elf))) {
    // What was right a moment ago must not be wrong now.
    await verified(ports, deployment);
    if (clock.now() >= untilMs) throw problem('not_final');
    await clock.sleep(POLL_MS, ports.signal);
    ports.signal?.throwIfAborted();
  }
  const instructions = [giveUpAuthority(await programDataOf(program), payer.address)];
  await unlessReached(
    async () => (await verified(ports, deployment)).upgradeAuthority === null,
    async () => {
      const blockhash = await cluster.latestBlockhash();
      await send(ports, { instructions, payer, signers: [], microLamports, units: UNITS.small, blockhash });
    },
  );
  return eventually(
    ports,
    () => verified(ports, deployment),
    ({ upgradeAuthority }) => upgradeAuthority === null,
  );
}

const AT_ONCE = 4;

/** Rounds of writes in which nothing more arrived, before it is left for another time. */
const VAIN_ROUNDS = 3;

/** Makes the buffer. Its keys are kept, and so is until when its transaction may land, before it is sent. */
async function makeBuffer(
  ports: DeploymentPorts,
  { payer, buffer, elf, microLamports }: Deployment,
  { bufferRent }: DeploymentPlan,
): Promise<void> {
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
      await send(ports, { instructions, payer, signers: [buffer], microLamports, units: UNITS.small, blockhash });
    },
  );
}

/** Writes what the buffer lacks, until it lacks nothing. What was lost is seen by reading the buffer again. */
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
    // What is not known to have landed is asked for once, and written again.
    missing = lastError ? await read() : await eventually(ports, read, (chunks) => chunks?.length === 0);
  }
}

/** The chunks that are not written yet; null where there is no buffer. */
async function lackingIn({ cluster }: DeploymentPorts, deployment: Deployment): Promise<number[] | null> {
  const [account] = await cluster.accounts([deployment.buffer.address]);
  if (account) return missingChunks(deployment, account);
  // A transaction that nobody heard of any more has put it in place.
  return (await isShippedAt(cluster, deployment.program, deployment.elf)) ? [] : null;
}

/** @returns the last failure that leaves open what became of a write; null where there was none */
async function writeChunks(
  ports: DeploymentPorts,
  deployment: Deployment,
  missing: readonly number[],
): Promise<unknown> {
  const { cluster, signal } = ports;
  const { buffer, payer, elf, microLamports } = deployment;
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
        await send(ports, { instructions, payer, signers: [], microLamports, units: UNITS.small, blockhash });
        done++;
      } catch (error) {
        // Another process of this home may have put the program in place meanwhile: then there is no buffer.
        if (isProblem(error, 'transaction_failed') && (await lackingIn(ports, deployment))?.length === 0) return;
        if (!isProblem(error, 'cluster_failed') && !isExpired(error)) throw error;
        lastError = error;
        // Those behind it have the same blockhash.
        if (isExpired(error)) left.length = 0;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, writer));
  return lastError;
}

/**
 * Closes the buffer of a deployment that is given up, and takes its rent back.
 * @param until a transaction that makes the buffer may be on its way until this block height; null: none is
 * @returns lamports that came back, before the fee; 0 where there was no buffer
 */
export async function reclaimBuffer(
  ports: Omit<DeploymentPorts, 'noteBufferUntil'>,
  { buffer, payer, microLamports }: Pick<Deployment, 'buffer' | 'payer' | 'microLamports'>,
  until: bigint | null,
): Promise<bigint> {
  const { cluster, clock } = ports;
  const read = async () => (await cluster.accounts([buffer.address]))[0] ?? null;
  let account = await read();
  while (account === null && until !== null && (await cluster.finalizedBlockHeight()) <= until) {
    // It may still be made, and would then be forgotten.
    await clock.sleep(POLL_MS, ports.signal);
    ports.signal?.throwIfAborted();
    account = await read();
  }
  if (account === null || readBuffer(account)?.authority !== payer.address) return 0n;
  const instructions = [closeBuffer(buffer.address, payer.address, payer.address)];
  await unlessReached(
    async () => (await read()) === null,
    async () => {
      const blockhash = await cluster.latestBlockhash();
      await send(ports, { instructions, payer, signers: [], microLamports, units: UNITS.small, blockhash });
    },
  );
  return account.lamports;
}
