import { isProblem, problem } from '../../kernel/problems.ts';
import { closeBuffer, createBuffer, readBuffer, writeBuffer } from '../../solana/loader.ts';
import { isShippedAt } from './inspect.ts';
import { CHUNK, type Deployment, type DeploymentPlan, missingChunks, UNITS } from './plan.ts';
import { type DeploymentPorts, eventually, isExpired, POLL_MS, send, unlessReached } from './sending.ts';

const AT_ONCE = 4;
/** Rounds of writes in which nothing more arrived, before it is left for another time. */
const VAIN_ROUNDS = 3;

/** Makes the buffer. Its keys are kept, and so is until when its transaction may land, before it is sent. */
export async function makeBuffer(
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
      await send(ports, {
        instructions,
        payer,
        signers: [buffer],
        microLamports,
        units: UNITS.small,
        blockhash,
      });
    },
  );
}

/** Writes what the buffer lacks, until it lacks nothing. What was lost is seen by reading the buffer again. */
export async function fillBuffer(ports: DeploymentPorts, deployment: Deployment): Promise<void> {
  let [least, vain] = [Number.POSITIVE_INFINITY, 0];
  let lastError: unknown = null;
  const read = () => lackingIn(ports, deployment);
  let missing = await eventually(ports, read, (chunks) => chunks !== null);
  while (missing === null || missing.length > 0) {
    ports.signal?.throwIfAborted();
    if (missing === null)
      throw problem('cluster_failed', { message: 'The buffer that was made is not there.' });
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
        if (isProblem(error, 'transaction_failed') && (await lackingIn(ports, deployment))?.length === 0)
          return;
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
