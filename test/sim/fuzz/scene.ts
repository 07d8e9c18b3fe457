import { createOperatorKeys } from '../../../src/flights/desk/keys.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import { type Answered, openWorld, TRIP, type World } from '../../flights/world.ts';
import { answersOf, type Operation, operationsOf, type ServedDocument } from './document.ts';
import type { Ask } from './requests.ts';

/** A world with something in it: offers, an intent that waits for its booking, one that is booked, payments. */
export async function openScene() {
  const world = await openWorld({ lowcostMs: 1_000 });
  await world.cluster.airdropUsdc(world.wallet.address, 1_000_000_000_000n);
  const document = (await world.call<ServedDocument>('/openapi.json')).body;
  const operations = operationsOf(document);

  const operators = createOperatorKeys({ ...world, ids: randomIds(world.clock.now) });
  const { key } = await operators.issue({ keyId: 'key_0', name: 'first' }, 'fuzz', 'req_0');

  const searched = await world.search();
  const { offers } = searched;
  world.clock.advance(60_000);
  const landed = await world.call<{ offers?: { offer_id: string }[] }>('/air/search-updates', {
    search_id: searched.search_id ?? 'sea_nothing',
  });
  const lowcost = landed.body.offers?.[0]?.offer_id ?? 'lowcost:nothing';
  const sold = offers.filter((offer) => offer.total_currency === 'USD');
  const [first, second] = sold;
  if (!first || !second) throw new Error('nothing is sold');
  const active = await world.intent(first.offer_id);
  const booked = await world.intent(second.offer_id);
  await world.book(booked);
  await world.work();
  const order = (await world.show(booked)).order_id ?? '';

  const unusual = { ...TRIP, depart_date: '2027-01-13', adults: 3 };
  const other = await world.sign(await world.call('/air/search', unusual));
  const spent = await world.sign(await world.call('/air/search', { ...unusual, adults: 4 }));
  await world.call('/air/search', { ...unusual, adults: 4 }, { headers: { 'PAYMENT-SIGNATURE': spent } });

  const names: Record<string, string> = {
    $offer: first.offer_id,
    $lowcost: lowcost,
    $fare: `${lowcost}##1`,
    $dearest: sold.at(-1)?.offer_id ?? '',
    $intent: active.intent_id,
    $booked: booked.intent_id,
    $order: order,
    $key: key,
    $search: searched.search_id ?? 'sea_nothing',
    $code: booked.customer_support_code,
    $wallet: world.wallet.address,
    $stranger: world.newWallet().address,
    $escrow: active.escrow.address,
    $other: other,
    $spent: spent,
  };
  const put = (text: string): string =>
    text
      .replace(/\$flipped:(\d+)/g, (_, at: string) => flipped(other, Number(at)))
      .replace(/\$(?:[a-z]+)/g, (name) => names[name] ?? name);

  const wrongWith = answersOf(document);

  return {
    world,
    document,
    operations,
    names,
    wrongWith,

    find(name: string): Operation {
      const found = operations.find((one) => one.name === name);
      if (!found) throw new Error(`${name} is not served`);
      return found;
    },

    /** The operation that answers: with another method it may be another one of the same path. */
    answering({ operation, method }: Ask): Operation {
      // A request takes `post` for POST.
      const sent = new Request('http://flights.test', { method }).method;
      const asked = sent === 'HEAD' ? 'GET' : sent;
      return operations.find((one) => one.path === operation.path && one.method === asked) ?? operation;
    },

    /** Sends a request with its `$names` put in. */
    async send(ask: Ask, app: Pick<World['app'], 'fetch'> = world.app): Promise<Answered<unknown>> {
      const headers = Object.fromEntries(Object.entries(ask.headers).map(([name, text]) => [name, put(text)]));
      const { body } = ask;
      const request = new Request(`http://flights.test${put(ask.path)}`, {
        method: ask.method,
        headers,
        ...(body === null ? {} : { body: typeof body === 'string' ? put(body) : body }),
      });
      const response = await app.fetch(request);
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: text === '' ? null : (JSON.parse(text) as unknown),
      };
    },

    /** What money knows: the payer's balance, the treasury's, and how many payments were taken. */
    async books() {
      const { taken } = await world.store
        .selectFrom('settlements')
        .select((one) => one.fn.countAll<number | string>().as('taken'))
        .executeTakeFirstOrThrow();
      return {
        wallet: await world.usdc(world.wallet.address),
        treasury: await world.usdc(world.treasury.address),
        taken: Number(taken),
      };
    },

    close: () => world.close(),
  };
}

export type Scene = Awaited<ReturnType<typeof openScene>>;

/** A real payment with one bit of its transaction turned. */
function flipped(header: string, at: number): string {
  const sent = JSON.parse(Buffer.from(header, 'base64').toString()) as { payload: { transaction: string } };
  const bytes = Buffer.from(sent.payload.transaction, 'base64');
  const index = at % bytes.length;
  bytes[index] = (bytes[index] ?? 0) ^ (1 << (at % 8));
  sent.payload.transaction = bytes.toString('base64');
  return Buffer.from(JSON.stringify(sent)).toString('base64');
}
