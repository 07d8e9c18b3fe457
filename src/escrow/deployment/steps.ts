import type { Address } from '@solana/kit';
import { problem } from '../../kernel/problems.ts';
import {
  deployProgram,
  giveUpAuthority,
  PROGRAM_SIZE,
  programDataOf,
  upgradeProgram,
} from '../../solana/loader.ts';
import { fillBuffer, makeBuffer } from './buffer.ts';
import { type InspectedProgram, inspectProgram, isShippedAt } from './inspect.ts';
import { type Deployment, planDeployment, requireFunds, UNITS } from './plan.ts';
import { type DeploymentPorts, eventually, POLL_MS, send, unlessReached } from './sending.ts';

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
