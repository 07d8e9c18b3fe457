import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { authorizeInstructions, reclaimInstructions } from '../../../src/escrow/authorization.ts';
import { ESCROW_PROGRAM_ID } from '../../../src/escrow/index.ts';
import { problem } from '../../../src/kernel/problems.ts';
import { authCaptureFacilitator } from '../../../src/payments/auth-capture/index.ts';
import { placeOf, readCollect, readRequirements } from '../../../src/payments/auth-capture-terms.ts';
import { buildTransaction } from '../../../src/solana/index.ts';
import { FUNDS, keyOf, NETWORK, openStage, PRICE, type Stage } from './stage.ts';

let stage: Stage;
let shopHad: bigint;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(async () => {
  shopHad = await stage.usdc(stage.people.payTo);
  stage.work.handler = async () => Response.json({ done: true });
  stage.work.done = 0;
});
afterEach(() => {
  for (const name of Object.keys(stage.faults)) delete stage.faults[name as keyof typeof stage.faults];
  stage.lost.next = 0;
});

type Buyer = Awaited<ReturnType<Stage['buyer']>>;

/** Everything that the buyer had is with the buyer, with the shop, or in the hold: to the unit. */
async function sums(buyer: Buyer, salt: string, expected: { shop: bigint; held: bigint }) {
  const hold = await stage.plugin.lifecycle.hold(NETWORK, salt);
  const shop = (await stage.usdc(stage.people.payTo)) - shopHad;
  expect({ shop, buyer: await stage.usdc(buyer.wallet) }).toEqual({
    shop: expected.shop,
    buyer: FUNDS - expected.shop - expected.held,
  });
  return hold;
}

const escrowOf = async (settled: { extra?: Record<string, unknown> | undefined } | null) =>
  stage.escrow(`${settled?.extra?.escrow}`);
const outage = () => Promise.reject(problem('cluster_failed'));
const takes = (amount: string) => async () =>
  Response.json({ done: true }, { headers: { 'Settlement-Overrides': JSON.stringify({ amount }) } });

describe('within the request', () => {
  test('authorize, then capture all', async () => {
    const buyer = await stage.buyer();
    const paid = await buyer.pays('/report');
    expect(paid).toMatchObject({
      status: 200,
      settled: { success: true, amount: `${PRICE}`, payer: buyer.wallet.address },
    });
    expect(await escrowOf(paid.settled)).toMatchObject({ state: 'captured', captured: PRICE, refunded: 0n });
    await sums(buyer, paid.salt, { shop: PRICE, held: 0n });
  });

  test('authorize, then capture a part and release the rest in one transaction', async () => {
    const buyer = await stage.buyer();
    stage.work.handler = takes('40000');
    const paid = await buyer.pays('/report');
    expect(paid).toMatchObject({ status: 200, settled: { success: true, amount: '40000' } });
    expect(await escrowOf(paid.settled)).toMatchObject({ state: 'captured', captured: 40_000n });
    await sums(buyer, paid.salt, { shop: 40_000n, held: 0n });
  });

  test.each([
    ['fails', async () => Response.json({}, { status: 500 })],
    ['takes nothing', takes('0')],
  ] as const)('authorize, then void where the handler %s', async (_how, handler) => {
    const buyer = await stage.buyer();
    stage.work.handler = handler;
    const paid = await buyer.pays('/report');
    expect(paid.settled).toMatchObject({ success: true, amount: `${PRICE}` });
    expect(await escrowOf(paid.settled)).toMatchObject({ state: 'refunded', captured: 0n });
    await sums(buyer, paid.salt, { shop: 0n, held: 0n });
  });

  test('a payment is used once, however often it is sent', async () => {
    const buyer = await stage.buyer();
    const paid = await buyer.pays('/report');
    for (let i = 0; i < 2; i++) {
      const again = await buyer.send('/report', paid.payment);
      expect(again).toMatchObject({
        status: 402,
        settled: { errorReason: 'invalid_auth_capture_svm_already_authorized' },
      });
    }
    expect(stage.work.done).toBe(1);
    await sums(buyer, paid.salt, { shop: PRICE, held: 0n });
  });

  test('two requests at once with one payment are one', async () => {
    const buyer = await stage.buyer();
    const { payment, salt } = await buyer.signs('/report');
    const both = await Promise.all([buyer.send('/report', payment), buyer.send('/report', payment)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 402]);
    expect(stage.work.done).toBe(1);
    await sums(buyer, salt, { shop: PRICE, held: 0n });
  });
});

describe('with lost answers', () => {
  /** The cluster does what it is sent `times` times, and its answer is lost; nor does it say what became of it. */
  function loses(times: number, blind: number) {
    let left = times;
    let dark = blind;
    stage.faults.send = async (wire) => {
      const sent = await stage.cluster.send(wire);
      if (left-- > 0) return outage();
      return sent;
    };
    stage.faults.signatureStatus = async (signature) =>
      dark-- > 0 ? outage() : stage.cluster.signatureStatus(signature);
  }

  test('the answer of a send that landed is found on chain at once', async () => {
    loses(2, 0);
    const buyer = await stage.buyer();
    const paid = await buyer.pays('/report');
    expect(paid.status).toBe(200);
    await sums(buyer, paid.salt, { shop: PRICE, held: 0n });
  });

  test('an unknown outcome is pending with its signature, and the core asks again: nothing is sent twice', async () => {
    loses(1, 1);
    const buyer = await stage.buyer();
    const paid = await buyer.pays('/report');
    expect(paid.status).toBe(200);
    await sums(buyer, paid.salt, { shop: PRICE, held: 0n });
  });

  test('an authorize that stays unknown is no failure: the same payment, sent later, is found and goes on', async () => {
    loses(2, 2);
    const buyer = await stage.buyer();
    const paid = await buyer.pays('/report');
    expect(paid).toMatchObject({ status: 402, settled: { success: false, errorReason: 'settlement_pending' } });
    expect(paid.settled?.transaction).toMatch(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/);
    expect(stage.work.done).toBe(0);
    await sums(buyer, paid.salt, { shop: 0n, held: PRICE });
    const later = await buyer.send('/report', paid.payment);
    expect(later.status).toBe(200);
    await sums(buyer, paid.salt, { shop: PRICE, held: 0n });
  });

  test('a capture whose answer is lost is found when the request comes again, and is not done twice', async () => {
    const buyer = await stage.buyer();
    stage.work.handler = async () => {
      loses(2, 2);
      return takes('40000')();
    };
    const paid = await buyer.pays('/report');
    expect(paid).toMatchObject({ status: 402, settled: { errorReason: 'settlement_pending' } });
    await sums(buyer, paid.salt, { shop: 40_000n, held: 0n });
    stage.work.handler = takes('40000');
    expect((await buyer.send('/report', paid.payment)).status).toBe(200);
    await sums(buyer, paid.salt, { shop: 40_000n, held: 0n });
  });

  test("the facilitator's answer to the server is lost: the next request gets the same one", async () => {
    for (const which of [1, 2]) {
      const buyer = await stage.buyer();
      shopHad = await stage.usdc(stage.people.payTo);
      stage.lost.next = which;
      const paid = await buyer.pays('/report');
      expect(paid.status).toBe(402);
      await sums(buyer, paid.salt, which === 1 ? { shop: 0n, held: PRICE } : { shop: PRICE, held: 0n });
      expect((await buyer.send('/report', paid.payment)).status).toBe(200);
      await sums(buyer, paid.salt, { shop: PRICE, held: 0n });
    }
  });

  test('the bytes are written down before they are sent: a facilitator that starts again sends the same ones, once', async () => {
    const seen: string[] = [];
    stage.faults.send = async (wire) => {
      seen.push(Buffer.from(wire).toString('hex'));
      return outage();
    };
    const buyer = await stage.buyer();
    const paid = await buyer.pays('/report');
    expect(paid).toMatchObject({ status: 402, settled: { errorReason: 'settlement_pending' } });
    await sums(buyer, paid.salt, { shop: 0n, held: 0n });
    stage.restart();
    stage.faults.send = async (wire) => {
      seen.push(Buffer.from(wire).toString('hex'));
      return stage.cluster.send(wire);
    };
    expect((await buyer.send('/report', paid.payment)).status).toBe(200);
    // Twice in vain, by the core's own second try; then Authorize and the capture.
    expect(seen).toHaveLength(4);
    expect(new Set(seen.slice(0, 3)).size).toBe(1);
    await sums(buyer, paid.salt, { shop: PRICE, held: 0n });
  });

  test('a server that cannot write a payment down neither settles nor serves it', async () => {
    const buyer = await stage.buyer();
    const { payment, salt } = await buyer.signs('/report');
    stage.faults.serverStore = () => Promise.reject(new Error('the disk is full'));
    expect((await buyer.send('/report', payment)).status).toBe(402);
    delete stage.faults.serverStore;
    expect(stage.work.done).toBe(0);
    await sums(buyer, salt, { shop: 0n, held: 0n });
  });
});

describe('after the request', () => {
  test('a deferred hold is captured in parts, then refunded, each once', async () => {
    const buyer = await stage.buyer();
    const paid = await buyer.pays('/later');
    expect(paid).toMatchObject({ status: 200, settled: { success: true, amount: '0' } });
    const { lifecycle } = stage.plugin;
    const on = [NETWORK, paid.salt] as const;
    await sums(buyer, paid.salt, { shop: 0n, held: PRICE });

    expect(await lifecycle.capture(...on, { amount: 50_000n, release: false })).toMatchObject({
      success: true,
      amount: '50000',
    });
    await sums(buyer, paid.salt, { shop: 50_000n, held: 100_000n });
    expect(await lifecycle.capture(...on, { amount: 50_000n, release: false })).toMatchObject({ success: true });
    await sums(buyer, paid.salt, { shop: 100_000n, held: 50_000n });
    const most = await lifecycle.capture(...on, { amount: 50_001n, release: true });
    expect(most).toMatchObject({ success: false, errorReason: 'invalid_auth_capture_svm_capture_exceeds' });
    expect(await lifecycle.void(...on)).toMatchObject({ success: true, amount: '50000' });
    await sums(buyer, paid.salt, { shop: 100_000n, held: 0n });

    const funder = stage.people.payTo;
    expect(await lifecycle.refund(...on, { amount: 30_000n, funder })).toMatchObject({
      success: true,
      amount: '30000',
    });
    expect(await lifecycle.hold(...on)).toMatchObject({ capturable: '0', refundable: '70000' });
    await sums(buyer, paid.salt, { shop: 70_000n, held: 0n });
    const again = await lifecycle.refund(...on, { amount: 70_001n, funder });
    expect(again).toMatchObject({ success: false, errorReason: 'invalid_auth_capture_svm_refund_exceeds' });
    expect(await lifecycle.refund(...on, { amount: 70_000n, funder })).toMatchObject({ success: true });
    await sums(buyer, paid.salt, { shop: 0n, held: 0n });
  });

  test('of two captures at once one is done; a repeated one gets its first answer', async () => {
    const buyer = await stage.buyer();
    const paid = await buyer.pays('/later');
    const { lifecycle } = stage.plugin;
    const capture = (amount: bigint) => lifecycle.capture(NETWORK, paid.salt, { amount, release: false });
    const [one, other] = await Promise.all([capture(60_000n), capture(70_000n)]);
    const done = [one, other].filter(({ success }) => success);
    expect(done).toHaveLength(1);
    const refused = [one, other].find(({ success }) => !success);
    expect(refused?.errorReason).toBe('invalid_auth_capture_svm_balance_mismatch');
    await sums(buyer, paid.salt, { shop: BigInt(done[0]?.amount ?? 0), held: PRICE - BigInt(done[0]?.amount ?? 0) });

    stage.lost.next = 1;
    await expect(capture(20_000n)).rejects.toThrow('502');
    const found = await capture(20_000n);
    expect(found).toMatchObject({ success: true, amount: '20000' });
    const taken = BigInt(done[0]?.amount ?? 0) + 20_000n;
    await sums(buyer, paid.salt, { shop: taken, held: PRICE - taken });
    await lifecycle.void(NETWORK, paid.salt);
    await sums(buyer, paid.salt, { shop: taken, held: 0n });
  });

  test('of two processes over the same rows one captures; the other is refused, and the first keeps its answer', async () => {
    const buyer = await stage.buyer();
    const { salt } = await buyer.pays('/later');
    const both = [stage.beside(), stage.beside()];
    const amounts = [60_000n, 70_000n];
    const before = await stage.plugin.lifecycle.hold(NETWORK, salt);
    const answers = await Promise.all(
      both.map((one, at) => one.capture(NETWORK, salt, { amount: amounts[at] ?? 0n, release: false })),
    );
    const won = answers.findIndex(({ success }) => success);
    expect(answers[1 - won]).toMatchObject({
      success: false,
      errorReason: 'invalid_auth_capture_svm_balance_mismatch',
    });
    const taken = amounts[won] ?? 0n;
    await sums(buyer, salt, { shop: taken, held: PRICE - taken });

    await stage.stores.server.update(`auth-capture:server:${NETWORK}:${salt}`, () => ({ row: before, result: null }));
    const again = await both[1 - won]?.capture(NETWORK, salt, { amount: taken, release: false });
    expect(again).toEqual(answers[won]);
    await sums(buyer, salt, { shop: taken, held: PRICE - taken });
    await stage.plugin.lifecycle.void(NETWORK, salt);
  });

  test('from the capture deadline on anybody sends the hold back, and the rent is the fee payer’s again', async () => {
    const buyer = await stage.buyer();
    // Holds of the tests before are past every deadline: they are sent back, then closed.
    stage.clock.move(90_000);
    await stage.tidy();
    stage.clock.move(2);
    await stage.tidy();
    const had = await stage.lamports(stage.people.feePayer);
    const paid = await buyer.pays('/later');
    stage.clock.move(3_601);
    const late = await stage.plugin.lifecycle.capture(NETWORK, paid.salt, { amount: PRICE, release: true });
    expect(late).toMatchObject({ success: false, errorReason: 'invalid_auth_capture_svm_deadline_passed' });
    await sums(buyer, paid.salt, { shop: 0n, held: PRICE });

    const stranger = keyOf('stranger');
    await stage.cluster.airdropSol(stranger.address, 10_000_000n);
    const at = `${paid.settled?.extra?.escrow}`;
    const found = await stage.escrow(at);
    if (found?.kind !== 'authorization') throw new Error('there is no authorization');
    const instructions = await reclaimInstructions({ authorization: found, feePayer: stranger.address });
    const blockhash = await stage.cluster.latestBlockhash();
    await stage.cluster.send(buildTransaction({ feePayer: stranger, instructions, blockhash }).wire);
    await sums(buyer, paid.salt, { shop: 0n, held: 0n });

    expect(await stage.tidy()).toMatchObject({ closed: 1, failed: 0 });
    expect(await stage.escrow(at)).toBeNull();
    // Two signatures of Authorize and its bid, one of Close.
    expect(had - (await stage.lamports(stage.people.feePayer))).toBe(15_001n);
  });

  test('an overdue hold is sent back by the upkeep of the facilitator', async () => {
    const buyer = await stage.buyer();
    const paid = await buyer.pays('/later');
    expect(await stage.tidy()).toMatchObject({ reclaimed: 0, failed: 0 });
    stage.clock.move(3_601);
    expect(await stage.tidy()).toMatchObject({ reclaimed: 1, failed: 0 });
    await sums(buyer, paid.salt, { shop: 0n, held: 0n });
    stage.clock.move(2);
    expect(await stage.tidy()).toMatchObject({ closed: 1, failed: 0 });
  });

  test('an ended hold is forgotten if the payer lent its rent, and waits for the fee payer that did', async () => {
    const buyer = await stage.buyer();
    const { wallet } = buyer;
    await stage.cluster.airdropSol(wallet.address, 20_000_000n);
    const signed = await buyer.signs('/later');
    stage.faults.send = async () => {
      const place = await placeOf(readRequirements(signed.payload.accepted), readCollect(signed.payload.payload));
      const own = await authorizeInstructions({
        ...place.terms,
        programId: place.programId,
        rentPayer: wallet.address,
      });
      const blockhash = await stage.cluster.latestBlockhash();
      await stage.cluster.send(buildTransaction({ feePayer: wallet, instructions: own, blockhash }).wire);
      throw problem('transaction_failed');
    };
    await buyer.send('/later', signed.payment);
    delete stage.faults.send;
    await buyer.pays('/later');
    stage.clock.move(3_601);
    expect(await stage.tidy()).toMatchObject({ reclaimed: 2, failed: 0 });
    stage.clock.move(2);
    const next = { cluster: stage.cluster, clock: stage.clock, feePayer: keyOf('next'), programs: [ESCROW_PROGRAM_ID] };
    const left = () => stage.stores.facilitator.keys(`auth-capture:holds:${NETWORK}:${wallet.address}`);
    await authCaptureFacilitator({ ...next, store: stage.stores.facilitator }).tidy();
    expect(await left()).toHaveLength(1);
    expect(await stage.tidy()).toMatchObject({ closed: 1, failed: 0 });
    expect(await left()).toEqual([]);
  });
});
