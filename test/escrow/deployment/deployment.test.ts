import { readFileSync } from 'node:fs';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import type { Address } from '@solana/kit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readEscrow } from '../../../src/escrow/account.ts';
import { escrowAddress } from '../../../src/escrow/address.ts';
import { inspectProgram } from '../../../src/escrow/deployment/inspect.ts';
import { CHUNK, type Deployment, planDeployment } from '../../../src/escrow/deployment/plan.ts';
import type { DeploymentPorts } from '../../../src/escrow/deployment/steps.ts';
import { carryOut, reclaimBuffer } from '../../../src/escrow/deployment/steps.ts';
import { escrowElf } from '../../../src/escrow/elf.ts';
import { openInstructions, refundInstructions } from '../../../src/escrow/program.ts';
import { type Problem, problem } from '../../../src/kernel/problems.ts';
import { type Cluster, DEVNET_USDC } from '../../../src/solana/cluster.ts';
import {
  createBuffer,
  giveUpAuthority,
  programDataOf,
  SBPF_V3_FEATURE,
  writeBuffer,
} from '../../../src/solana/loader.ts';
import { associatedTokenAddress, TOKEN_PROGRAM } from '../../../src/solana/token.ts';
import { proofTest } from '../../proof-only.ts';
import { openLyingCluster } from '../../solana/lying-rpc.ts';
import { agreeableElf, openScene, payer, SOL, stranger } from './scene.ts';

let scene: Awaited<ReturnType<typeof openScene>>;
beforeEach(async () => {
  scene = await openScene();
});
afterEach(() => scene.close());

const elf = escrowElf();
const portsOf = (cluster: Cluster = scene.cluster): DeploymentPorts => ({
  cluster,
  clock: { now: scene.clock.now, sleep: async (ms) => scene.clock.advance(ms) },
  noteBufferUntil: () => undefined,
});
const rentOf = (bytes: number) => scene.cluster.minimumRent(bytes);
const programRent = async () => (await rentOf(36)) + (await rentOf(45 + elf.length));

describe('a program at an address', () => {
  test('is absent, something else, the shipped one, or another one', async () => {
    const { cluster } = scene;
    const deployment = scene.deployment();
    expect(await inspectProgram(cluster, deployment.program)).toEqual({ kind: 'absent' });
    expect(await inspectProgram(cluster, DEVNET_USDC)).toEqual({ kind: 'not_a_program' });
    expect(await inspectProgram(cluster, payer.address)).toEqual({ kind: 'not_a_program' });
    expect(await inspectProgram(cluster, TOKEN_PROGRAM)).toMatchObject({ kind: 'present', isShipped: false });
    const found = await carryOut(portsOf(), deployment);
    expect(found).toEqual({
      kind: 'present',
      isShipped: true,
      isPrevious: false,
      upgradeAuthority: payer.address,
      slot: BigInt(cluster.ledger.peek().slot),
      size: elf.length,
    });
    // Its own data account is no program.
    expect(await inspectProgram(cluster, await programDataOf(deployment.program))).toEqual({ kind: 'not_a_program' });
  });

  test('is the one before, of which the very bytes are known', async () => {
    const previous = new Uint8Array(readFileSync(new URL('../fixtures/escrow-whole.so', import.meta.url)));
    const deployment = { ...scene.deployment(), elf: previous };
    await expect(carryOut(portsOf(), deployment)).resolves.toMatchObject({ isShipped: true });
    const found = { kind: 'present', isShipped: false, size: previous.length };
    expect(await inspectProgram(scene.cluster, deployment.program)).toMatchObject({ ...found, isPrevious: true });
    const [program, code] = await scene.cluster.accounts([deployment.program, await programDataOf(deployment.program)]);
    if (!program || !code) throw new Error('deployed');
    for (const data of [code.data.with(7_000, (code.data[7_000] ?? 0) ^ 1), Uint8Array.of(...code.data, 1)]) {
      const accounts = async () => [program, { ...code, data }];
      expect(await inspectProgram({ accounts }, deployment.program)).toMatchObject({ isPrevious: false });
    }
    // There is no room for today's program, which is said before anything is sent.
    const upgrade = {
      ...scene.deployment(),
      kind: 'upgrade',
      program: deployment.program,
      programSigner: null,
    } as const;
    await expect(planDeployment(scene.cluster, upgrade)).rejects.toMatchObject({ code: 'program_not_upgradeable' });
  });

  test('is not the shipped one with a byte changed anywhere, nor with code behind it', async () => {
    const deployment = scene.deployment();
    await carryOut(portsOf(), deployment);
    const honest = await scene.cluster.accounts([deployment.program, await programDataOf(deployment.program)]);
    const shown = async (change: (data: Uint8Array) => Uint8Array) => {
      const [program, code] = honest;
      if (!program || !code) throw new Error('deployed');
      const accounts = async () => [program, { ...code, data: change(new Uint8Array(code.data)) }];
      return inspectProgram({ accounts }, deployment.program);
    };
    for (const at of [45, 46, 45 + elf.length - 1, 45 + 7_000]) {
      const flipped = await shown((data) => data.with(at, (data[at] ?? 0) ^ 1));
      expect(flipped).toMatchObject({ kind: 'present', isShipped: false });
    }
    expect(await shown((data) => Uint8Array.of(...data, 0, 0, 0))).toMatchObject({ isShipped: true });
    expect(await shown((data) => Uint8Array.of(...data, 0, 0, 1))).toMatchObject({ isShipped: false });
    expect(await shown((data) => data.subarray(0, -1))).toMatchObject({ isShipped: false });
    // Whose code it is, is said by the program: another account of the loader's does not count.
    const [program, code] = honest;
    if (!program || !code) throw new Error('deployed');
    const elsewhere = { ...code, address: stranger.address };
    expect(await inspectProgram({ accounts: async () => [program, elsewhere] }, deployment.program)).toEqual({
      kind: 'not_a_program',
    });
  });
});

describe('a deployment', () => {
  test('costs what was said: the rent of program and code, and the fee of each transaction', async () => {
    const deployment = scene.deployment({ microLamports: 1_234_567n, isFinal: true });
    const plan = await planDeployment(scene.cluster, deployment);
    const before = scene.balance();
    await carryOut(portsOf(), deployment);
    expect(plan.rent).toBe(await programRent());
    expect(before - scene.balance()).toBe(plan.rent + plan.fees);
    expect(scene.fees()).toBe(plan.fees);
    expect(plan.transactions).toBe(3 + Math.ceil(elf.length / CHUNK));
    expect(scene.lamports(deployment.buffer.address)).toBe(0n);
  });

  test('makes a program that opens, refunds and closes escrows at its own address', async () => {
    const { cluster } = scene;
    const deployment = scene.deployment({ isFinal: true });
    await carryOut(portsOf(), deployment);
    scene.clock.advance(1_000);
    const programId = deployment.program;
    const { address: escrow } = await escrowAddress('int_1', { mint: DEVNET_USDC, programId });
    const parties = {
      ...{ programId, escrow, authority: payer.address, payer: payer.address, mint: DEVNET_USDC },
      ...{ treasury: payer.address, refundOwner: stranger.address },
    };
    const refundAfter = BigInt(await cluster.unixTime()) + 3_600n;
    await scene.send(await openInstructions({ ...parties, intentId: 'int_1', amount: 5_000_000n, refundAfter }));
    await cluster.airdropUsdc(escrow, 5_000_000n);
    await scene.send(await refundInstructions(parties));
    expect(await readEscrow(cluster, escrow, [programId])).toMatchObject({ state: 'refunded' });
    const refunded = await associatedTokenAddress(stranger.address, DEVNET_USDC);
    expect(await cluster.tokenBalance(refunded)).toBe(5_000_000n);
  });

  test('needs no lamport more than it says, and is refused before anything is sent with one less', async () => {
    const deployment = scene.deployment({ payer: stranger });
    const { needed } = await planDeployment(scene.cluster, deployment);
    await scene.cluster.airdropSol(stranger.address, needed - 1n);
    const landed = scene.cluster.ledger.transactionCount();
    await expect(carryOut(portsOf(), deployment)).rejects.toMatchObject({ code: 'insufficient_funds' });
    expect(scene.cluster.ledger.transactionCount()).toBe(landed);
    // Less than that would be an account that cannot be.
    await scene.cluster.airdropSol(stranger.address, 1_000_000n);
    await expect(carryOut(portsOf(), deployment)).resolves.toMatchObject({ isShipped: true });
    expect(scene.lamports(stranger.address)).toBe((await rentOf(0)) + 1_000_000n - 1n);
  });

  test('goes on wherever it was cut off, and pays nothing twice', async () => {
    const deployment = scene.deployment({ isFinal: true });
    const planned = await planDeployment(scene.cluster, deployment);
    const before = scene.balance();
    const died = new Error('killed');
    for (let alive = 0; ; alive++) {
      let sent = 0;
      const dying: Cluster = {
        ...scene.cluster,
        async send(wire) {
          if (sent++ > alive % 3) throw died;
          const signature = await scene.cluster.send(wire);
          // Every other time it lands, and nobody hears of it.
          if (sent > alive % 3 && alive % 2 === 0) throw died;
          return signature;
        },
      };
      const ended = await carryOut(portsOf(dying), deployment).catch((error: unknown) => {
        if (error !== died) throw error;
        return null;
      });
      if (ended) break;
      // What was on its way lands before another process has started.
      await turnOfLoop();
      expect(alive).toBeLessThan(60);
    }
    expect(before - scene.balance()).toBe((await programRent()) + scene.fees());
    expect(scene.fees()).toBe(planned.fees);
    expect(scene.lamports(deployment.buffer.address)).toBe(0n);
    expect(await inspectProgram(scene.cluster, deployment.program)).toMatchObject({
      isShipped: true,
      upgradeAuthority: null,
    });
  });

  test('gets through a cluster that loses a third of what is sent, and answers that never come', async () => {
    const liar = await openLyingCluster(scene, scene.clock.advance);
    let calls = 0;
    let lost = 0;
    liar.tell = async (call, honest) => {
      if (call.method !== 'sendTransaction') return honest();
      calls++;
      if (calls % 10 === 3 || calls % 10 === 6) {
        // Taken, and dropped by the leader.
        lost++;
        return { jsonrpc: '2.0', id: call.id, result: '1'.repeat(64) };
      }
      if (calls % 10 === 9) {
        lost++;
        throw new TypeError('fetch failed');
      }
      const answer = await honest();
      if (calls % 10 === 5) throw new TypeError('fetch failed');
      return answer;
    };
    const before = scene.balance();
    const deployment = scene.deployment({ isFinal: true });
    await carryOut(portsOf(liar.cluster), deployment);
    expect(lost).toBeGreaterThan(4);
    expect(await inspectProgram(scene.cluster, deployment.program)).toMatchObject({
      isShipped: true,
      upgradeAuthority: null,
    });
    expect(before - scene.balance()).toBe((await programRent()) + scene.fees());
  });

  proofTest('waits for a node that lags behind what another one has confirmed, and writes nothing twice', async () => {
    const liar = await openLyingCluster(scene, scene.clock.advance);
    const before = new Map<string, unknown>();
    let stale = 0;
    liar.tell = async (call, honest) => {
      if (call.method === 'sendTransaction') stale = 3;
      const answer = await honest();
      if (call.method !== 'getMultipleAccounts') return answer;
      const of = JSON.stringify(call.params[0]);
      const { value } = answer.result as { value: unknown };
      const told = stale-- > 0 && before.has(of) ? before.get(of) : value;
      if (told === value) before.set(of, value);
      return { ...answer, result: { ...(answer.result as object), value: told } };
    };
    const deployment = scene.deployment({ isFinal: true });
    const { fees } = await planDeployment(scene.cluster, deployment);
    expect(await carryOut(portsOf(liar.cluster), deployment)).toMatchObject({ upgradeAuthority: null });
    expect(scene.fees()).toBe(fees);
  });

  test('signs anew what was too old when the cluster first saw it', async () => {
    let sent = 0;
    const slow: Cluster = {
      ...scene.cluster,
      async send(wire) {
        // Held up for two minutes, and so are those behind it: the first of all, and two of the writes.
        if ([0, 2, 11].includes(sent++)) scene.clock.advance(120_000);
        return scene.cluster.send(wire);
      },
    };
    const deployment = scene.deployment({ isFinal: true });
    const { fees } = await planDeployment(scene.cluster, deployment);
    expect(await carryOut(portsOf(slow), deployment)).toMatchObject({ upgradeAuthority: null });
    expect(scene.fees()).toBe(fees);
  });

  test('does not take a lost answer for a failure', async () => {
    const unheard: Cluster = {
      ...scene.cluster,
      async send(wire) {
        await scene.cluster.send(wire);
        throw problem('cluster_failed');
      },
    };
    const deployment = scene.deployment({ isFinal: true });
    const { fees } = await planDeployment(scene.cluster, deployment);
    expect(await carryOut(portsOf(unheard), deployment)).toMatchObject({ upgradeAuthority: null });
    expect(scene.fees()).toBe(fees);
  });

  test('writes again what somebody with the key has overwritten, and puts only the right bytes in place', async () => {
    const deployment = scene.deployment();
    const { buffer } = deployment;
    await scene.send(
      createBuffer({
        payer: payer.address,
        buffer: buffer.address,
        authority: payer.address,
        lamports: await rentOf(37 + elf.length),
        size: elf.length,
      }),
      payer,
      [buffer],
    );
    await scene.send([writeBuffer(buffer.address, payer.address, 500, new Uint8Array(900).fill(0xee))]);
    expect((await planDeployment(scene.cluster, deployment)).hasBuffer).toBe(true);
    expect(await carryOut(portsOf(), deployment)).toMatchObject({ isShipped: true });
  });

  test("stops at a buffer that is another's or of another size, and at an address that is taken", async () => {
    const foreign = scene.deployment();
    await scene.cluster.airdropSol(stranger.address, SOL);
    const lamports = await rentOf(37 + elf.length);
    const made = { buffer: foreign.buffer.address, lamports, size: elf.length };
    await scene.send(createBuffer({ ...made, payer: payer.address, authority: stranger.address }), payer, [
      foreign.buffer,
    ]);
    await expect(carryOut(portsOf(), foreign)).rejects.toMatchObject({ code: 'deployment_conflict' });
    const taken = scene.deployment();
    await carryOut(portsOf(), taken);
    const another = scene.deployment({ elf: agreeableElf() });
    await expect(
      carryOut(portsOf(), { ...another, program: taken.program, programSigner: taken.programSigner }),
    ).rejects.toMatchObject({ code: 'deployment_conflict' });
  });
});

describe('an upgrade', () => {
  const deployed = async (bytes: Uint8Array, differs: Partial<Deployment> = {}) => {
    const deployment = scene.deployment({ elf: bytes, ...differs });
    await carryOut(portsOf(), deployment);
    scene.clock.advance(1_000);
    return deployment;
  };

  test('replaces the bytes for fees alone, and the buffer is gone', async () => {
    const old = await deployed(agreeableElf());
    expect(await inspectProgram(scene.cluster, old.program)).toMatchObject({ isShipped: false });
    const upgrade = scene.upgradeOf(old, elf);
    const plan = await planDeployment(scene.cluster, upgrade);
    const before = scene.balance();
    expect(await carryOut(portsOf(), upgrade)).toMatchObject({ isShipped: true });
    expect(plan.rent).toBe(0n);
    expect(before - scene.balance()).toBe(plan.fees);
    expect(scene.lamports(upgrade.buffer.address)).toBe(0n);
  });

  test('of what nobody, or somebody else, can change is refused before anything is sent', async () => {
    const final = await deployed(agreeableElf(), { isFinal: true });
    const landed = scene.cluster.ledger.transactionCount();
    await expect(carryOut(portsOf(), scene.upgradeOf(final, elf))).rejects.toMatchObject({
      code: 'program_not_upgradeable',
    });
    const theirs = await deployed(agreeableElf());
    const before = scene.cluster.ledger.transactionCount();
    await expect(carryOut(portsOf(), { ...scene.upgradeOf(theirs, elf), payer: stranger })).rejects.toMatchObject({
      code: 'program_not_upgradeable',
    });
    const larger = Uint8Array.of(...elf, ...new Uint8Array(64));
    await expect(carryOut(portsOf(), scene.upgradeOf(theirs, larger))).rejects.toMatchObject({
      code: 'program_not_upgradeable',
    });
    expect(scene.cluster.ledger.transactionCount()).toBe(before);
    expect(landed).toBeLessThan(before);
  });

  test('to a cluster that does not take the version of the program is refused before a lamport is spent', async () => {
    const featured = (data: Uint8Array | null, owner?: Address): Cluster => ({
      ...scene.cluster,
      nodeVersion: async () => '2.2.1',
      accounts: async (asked, how) =>
        (await scene.cluster.accounts(asked, how)).map((one) =>
          one?.address === SBPF_V3_FEATURE ? data && { ...one, data, owner: owner ?? one.owner } : one,
        ),
    });
    const before = [scene.balance(), scene.cluster.ledger.transactionCount()];
    const refusal = (cluster: Cluster) =>
      carryOut({ ...portsOf(), cluster }, scene.deployment()).then(
        () => null,
        ({ code, message }: Problem) => [code, message],
      );
    const absent = [
      'program_version_unsupported',
      'The cluster does not accept programs of SBPF version 3. Its node runs 2.2.1.',
    ];
    expect(await refusal(featured(null))).toEqual(absent);
    // A copy of the bytes in an account of somebody else.
    expect(await refusal(featured(Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 0), TOKEN_PROGRAM))).toEqual(absent);
    expect(await refusal(featured(new Uint8Array(9)))).toEqual([
      'program_version_unsupported',
      'The cluster accepts programs of SBPF version 3 from its next epoch on. Its node runs 2.2.1.',
    ]);
    expect([scene.balance(), scene.cluster.ledger.transactionCount()]).toEqual(before);
  });

  test('of what the loader refuses says why in the message, not in the logs alone', async () => {
    const broken = Uint8Array.from(elf);
    broken[4] = 0;
    const refused = carryOut(portsOf(), scene.deployment({ elf: broken }));
    const error = (await refused.catch((one: Problem) => one)) as Problem;
    expect(error.code).toBe('transaction_failed');
    expect(error.message).toMatch(/ELF error|[Ii]nvalid file header/);
  });

  test('in the slot of the deployment is refused by the loader, as on a real cluster; a slot later it is done', async () => {
    const old = scene.deployment({ elf: agreeableElf() });
    await carryOut(portsOf(), old);
    const upgrade = scene.upgradeOf(old, elf);
    await expect(carryOut(portsOf(), upgrade)).rejects.toMatchObject({ code: 'transaction_failed' });
    scene.clock.advance(1_000);
    expect(await carryOut(portsOf(), upgrade)).toMatchObject({ isShipped: true });
  });

  test('of a program that is right already is to give it up, by whoever may', async () => {
    const old = await deployed(elf);
    const final = { ...scene.upgradeOf(old, elf), isFinal: true };
    await expect(carryOut(portsOf(), { ...final, payer: stranger })).rejects.toMatchObject({
      code: 'program_not_upgradeable',
    });
    expect(await planDeployment(scene.cluster, final)).toMatchObject({ transactions: 1, fees: 5_000n, rent: 0n });
    expect(await carryOut(portsOf(), final)).toMatchObject({ isShipped: true, upgradeAuthority: null });
    // The address of the last authority is still in the account, behind a flag that says that there is none.
    await expect(scene.send([giveUpAuthority(await programDataOf(old.program), payer.address)])).rejects.toMatchObject({
      code: 'transaction_failed',
    });
  });
});

describe('the right to change a program', () => {
  test('is given up only once the right bytes are final', async () => {
    const liar = await openLyingCluster(scene, scene.clock.advance);
    let finalizedLooks = 0;
    const deployment = scene.deployment({ isFinal: true });
    liar.tell = async (call, honest) => {
      const how = call.params.at(-1) as { commitment?: string } | undefined;
      const answer = await honest();
      if (call.method !== 'getMultipleAccounts' || how?.commitment !== 'finalized') return answer;
      const result = answer.result as { value: unknown[] };
      // The blocks of the deployment are not final for two looks yet.
      if (finalizedLooks++ < 2) return { ...answer, result: { ...result, value: [null, null] } };
      return answer;
    };
    expect(await carryOut(portsOf(liar.cluster), deployment)).toMatchObject({ upgradeAuthority: null });
    expect(finalizedLooks).toBe(3);
  });

  proofTest('is kept where the bytes do not become final', async () => {
    const liar = await openLyingCluster(scene, scene.clock.advance);
    const deployment = scene.deployment({ isFinal: true });
    liar.tell = async (call, honest) => {
      const how = call.params.at(-1) as { commitment?: string } | undefined;
      const answer = await honest();
      if (call.method !== 'getMultipleAccounts' || how?.commitment !== 'finalized') return answer;
      return { ...answer, result: { ...(answer.result as object), value: [null, null] } };
    };
    await expect(carryOut(portsOf(liar.cluster), deployment)).rejects.toMatchObject({ code: 'not_final' });
    expect(await inspectProgram(scene.cluster, deployment.program)).toMatchObject({ upgradeAuthority: payer.address });
  });
});

describe('a deployment that is given up', () => {
  /** Cut off after so many transactions. */
  async function cutOff(deployment: Deployment, after: number) {
    let sent = 0;
    const dying: Cluster = {
      ...scene.cluster,
      send: (wire) => (sent++ < after ? scene.cluster.send(wire) : Promise.reject(new Error('killed'))),
    };
    await expect(carryOut(portsOf(dying), deployment)).rejects.toThrow('killed');
  }

  test('gives the rent of its buffer back', async () => {
    const deployment = scene.deployment();
    const before = scene.balance();
    await cutOff(deployment, 5);
    expect(await reclaimBuffer(portsOf(), deployment, null)).toBe(await rentOf(37 + elf.length));
    expect(before - scene.balance()).toBe(scene.fees());
    expect(await reclaimBuffer(portsOf(), deployment, null)).toBe(0n);
  });

  test('waits for a buffer that may still be made', async () => {
    const deployment = scene.deployment();
    let until = 0n;
    let held: Uint8Array | null = null;
    const slow: Cluster = {
      ...scene.cluster,
      async send(wire) {
        held = wire;
        throw new Error('killed');
      },
    };
    const ports = { ...portsOf(slow), noteBufferUntil: (height: bigint) => (until = height) };
    await expect(carryOut(ports, deployment)).rejects.toThrow('killed');
    expect(until).toBeGreaterThan(0n);
    let looks = 0;
    const late: Cluster = {
      ...scene.cluster,
      async accounts(addresses) {
        if (++looks === 4 && held) await scene.cluster.send(held);
        return scene.cluster.accounts(addresses);
      },
    };
    expect(await reclaimBuffer(portsOf(late), deployment, until)).toBe(await rentOf(37 + elf.length));
    // And no longer than it may.
    const other = scene.deployment();
    const height = await scene.cluster.finalizedBlockHeight();
    expect(await reclaimBuffer(portsOf(), other, height + 20n)).toBe(0n);
    expect(await scene.cluster.finalizedBlockHeight()).toBeGreaterThan(height + 20n);
  });
});
