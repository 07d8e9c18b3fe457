import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { randomIds } from '../../../src/kernel/ids.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { isProblem, type Problem } from '../../../src/kernel/problems.ts';
import { openSecrets } from '../../../src/kernel/secrets.ts';
import { defaultPartnerOptions, type PartnerPorts } from '../../../src/partner/base/ports.ts';
import type { Tx } from '../../../src/partner/base/tables.ts';
import type { Policy } from '../../../src/partner/compliance/policy.ts';
import { defaultPolicy } from '../../../src/partner/compliance/policy.ts';
import { addRequirement } from '../../../src/partner/compliance/requirements.ts';
import { purgeCustomerData } from '../../../src/partner/compliance/retention.ts';
import { createStanding, requireCompliant, type WantedOrder } from '../../../src/partner/compliance/standing.ts';
import { openData, saveData } from '../../../src/partner/compliance/submissions.ts';
import type { CustomerData } from '../../../src/partner/customer-data/schema.ts';
import { partnerDemo } from '../../../src/sandbox/index.ts';
import { ensureSeed } from '../../../src/sandbox/partners/index.ts';
import { openStore } from '../../../src/service/home.ts';
import type { DataType } from '../../../src/wire/partner/kinds.ts';
import { type ManualClock, manualClock } from '../../clock.ts';
import { cases } from '../../proof-only.ts';
import { migratedFile } from '../../service/migrated.ts';
import { newDatabase, postgresIsInstalled } from '../../store/postgres.ts';

const DAY_MS = 86_400_000;
const ANA = 'cus_demo_ana';
const EVA = 'cus_demo_eva';

/** The smallest policy that has every kind of rule. */
const SMALL: Policy = {
  ...defaultPolicy,
  retentionDays: 100,
  rules: [
    { name: 'all', require: [{ data: 'EMAIL' }] },
    { name: 'large', fromUsd: '1000', require: [{ data: 'PHONE' }] },
    { name: 'wallet', rampTypes: ['ONRAMP'], fromUsd: '500', require: [{ data: 'CRYPTO_WALLET', network: 'order' }] },
    { name: 'brazil', countries: ['BRA'], require: [{ data: 'TAX_ID' }] },
  ],
};

const ORDER: WantedOrder = {
  partner_id: 'par_sandbox_bank',
  country_code: 'MEX',
  transaction_type: 'ONRAMP',
  source_amount: '100',
  source_currency: 'USD',
  network: 'SOLANA',
  customer_wallet_data_id: null,
};

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function world({
  policy = SMALL,
  database,
  clock = manualClock(),
}: {
  policy?: Policy;
  database?: string;
  clock?: ManualClock;
} = {}) {
  const home = mkdtempSync(join(tmpdir(), 'farelock-gate-'));
  writeFileSync(join(home, 'policy.json'), JSON.stringify(policy));
  const open = async () => {
    const store = await openStore(database ?? (await migratedFile(home)));
    const ports: PartnerPorts = {
      store,
      secrets: openSecrets(join(home, 'keys.json')),
      clock,
      ids: randomIds(clock.now),
      log: silentLog,
      environment: 'demo',
      demo: partnerDemo,
      serviceName: 'farelock',
      home,
      desk: { authenticate: async () => ({ keyId: 'k', name: 'n' }), audit: async () => undefined },
      options: { ...defaultPartnerOptions, compliancePolicyFile: join(home, 'policy.json') },
    } as PartnerPorts;
    closing.push(() => store.destroy());
    const standing = createStanding(ports);
    const gate = (customerId: string, wanted: WantedOrder, tx?: Tx) =>
      requireCompliant(standing, customerId, wanted, tx);
    return {
      ports,
      store,
      clock,
      standing,
      gate,
      give: (customerId: string, type: DataType, value: CustomerData) =>
        store.transaction().execute(async (tx) => {
          const [saved] = await saveData(ports, tx, customerId, [{ type, value }], clock.now());
          await standing.settled(tx, customerId);
          return saved?.dataId ?? '';
        }),
      /** What an order lacks, or nothing. */
      async lacks(more: Partial<WantedOrder> = {}, customerId = EVA): Promise<unknown> {
        try {
          await gate(customerId, { ...ORDER, ...more });
          return [];
        } catch (error) {
          if (!isProblem(error, 'compliance_required')) throw error;
          return error.detail?.outstanding;
        }
      },
      async status(customerId = EVA) {
        return (await standing.now(customerId)).status.replace('COMPLIANCE_STATUS_', '');
      },
      /** An order as CreateOrder leaves it. */
      async ordered(more: { amount?: string; status?: string; creation?: string; currency?: string } = {}) {
        const like = await store.selectFrom('partner_orders').selectAll().limit(1).executeTakeFirstOrThrow();
        const order_id = ports.ids.next('rmp');
        await store
          .insertInto('partner_orders')
          .values({
            ...like,
            order_id,
            customer_id: EVA,
            creation: (more.creation ?? 'created') as typeof like.creation,
            status: more.status ?? 'FUNDS_RECEIVED',
            source_amount: more.amount ?? '600',
            source_currency: more.currency ?? 'USD',
            creation_key: null,
            created_at_ms: clock.now(),
          })
          .execute();
        return order_id;
      },
    };
  };
  const first = await open();
  closing.unshift(async () => rmSync(home, { recursive: true, force: true }));
  await ensureSeed(first.ports);
  // The demo's own orders count as any other: they are in nobody's way here.
  await first.store.updateTable('partner_orders').set({ customer_id: 'cus_somebody' }).execute();
  return { ...first, again: open };
}

const EMAIL: CustomerData = { email: { value: 'eva@example.com' } };
const PHONE: CustomerData = { phone: { countryCode: '+52', number: '5512345678' } };
const wallet = (type: 'SOLANA' | 'ETHEREUM', address: string): CustomerData => ({ cryptoWallet: { type, address } });

describe('the gate of CreateOrder', () => {
  test('lets nobody through who has not met what the order takes, and says what that is', async () => {
    const { lacks, give } = await world();
    expect(await lacks()).toEqual([{ data: 'EMAIL', state: 'missing' }]);
    await give(EVA, 'EMAIL', EMAIL);
    expect(await lacks()).toEqual([]);
  });

  test('asks for more from an amount on, in the currency of the order', async () => {
    const { lacks, give } = await world();
    await give(EVA, 'EMAIL', EMAIL);
    await give(EVA, 'CRYPTO_WALLET', wallet('SOLANA', 'BAaqwgRSAmcEiJiJM4Mo2ZZUwaD9P7RqNhhbNuyficj9'));
    expect(await lacks({ source_amount: '999.99' })).toEqual([]);
    expect(await lacks({ source_amount: '1000' })).toEqual([{ data: 'PHONE', state: 'missing' }]);
    expect(await lacks({ source_amount: '999.99', source_currency: 'EUR' })).toEqual([
      { data: 'PHONE', state: 'missing' },
    ]);
    expect(await lacks({ source_amount: '0.01', source_currency: 'XYZ' })).toEqual([
      { data: 'PHONE', state: 'missing' },
    ]);
  });

  test('counts what was ordered within the window, so that a large order cannot be made of small ones', async () => {
    const { lacks, give, ordered, clock } = await world();
    await give(EVA, 'EMAIL', EMAIL);
    const sell = { transaction_type: 'OFFRAMP', source_amount: '400', source_currency: 'SOLANA_USDC' } as const;
    await ordered({ status: 'CANCELED' });
    await ordered({ status: 'REFUNDED' });
    await ordered({ creation: 'failed' });
    expect(await lacks(sell)).toEqual([]);
    await ordered({ amount: '600' });
    expect(await lacks({ ...sell, source_amount: '399.999999' })).toEqual([]);
    expect(await lacks(sell)).toEqual([{ data: 'PHONE', state: 'missing' }]);
    clock.advance(30 * DAY_MS);
    expect(await lacks(sell)).toEqual([]);
  });

  test('a wallet counts for its own network, and the order is held to the very wallet that it names', async () => {
    const here = await world({
      policy: {
        ...SMALL,
        rules: [{ name: 'wallet', require: [{ attestation: 'VALIDATED_CRYPTO_WALLET', network: 'order' }] }],
      },
    });
    const { lacks, give } = here;
    const burnt = await give(EVA, 'CRYPTO_WALLET', wallet('SOLANA', '1nc1nerator11111111111111111111111111111111'));
    expect(await lacks({ network: 'TRON' })).toEqual([
      { data: 'CRYPTO_WALLET', network: 'TRON', state: 'missing' },
      { attestation: 'VALIDATED_CRYPTO_WALLET', network: 'TRON', state: 'missing' },
    ]);
    const good = await give(EVA, 'CRYPTO_WALLET', wallet('SOLANA', 'BAaqwgRSAmcEiJiJM4Mo2ZZUwaD9P7RqNhhbNuyficj9'));
    here.clock.advance(2_000);
    expect(await lacks({ customer_wallet_data_id: good })).toEqual([]);
    expect(await lacks({ customer_wallet_data_id: burnt })).toMatchObject([
      { state: 'rejected' },
      { state: 'rejected' },
    ]);
  });

  test("of either country the customer's or the order's, the rules hold", async () => {
    const { lacks, give } = await world();
    await give(EVA, 'EMAIL', EMAIL);
    expect(await lacks({ country_code: 'BRA' })).toEqual([{ data: 'TAX_ID', state: 'missing' }]);
  });

  test("what one partner asks holds up its own orders, and no other partner's", async () => {
    const { lacks, give, ports, store, status } = await world();
    await give(EVA, 'EMAIL', EMAIL);
    await store
      .transaction()
      .execute((tx) => addRequirement(ports, tx, 'par_sandbox_pix', { customerId: EVA, data: 'SELFIE' }));
    expect(await status()).toBe('PENDING');
    expect(await lacks({ partner_id: 'par_sandbox_pix' })).toEqual([{ data: 'SELFIE', state: 'missing' }]);
    expect(await lacks()).toEqual([]);
  });

  test('remembers a refused order for its customer, who is asked for what it takes, for a month', async () => {
    const { lacks, give, status, clock } = await world();
    await give(EVA, 'EMAIL', EMAIL);
    expect(await status()).toBe('SUCCESS');
    await lacks({ transaction_type: 'OFFRAMP', source_amount: '5000' });
    expect(await status()).toBe('PENDING');
    await give(EVA, 'PHONE', PHONE);
    expect(await status()).toBe('SUCCESS');
    await lacks({ country_code: 'BRA' });
    expect(await status()).toBe('PENDING');
    clock.advance(30 * DAY_MS);
    expect(await status()).toBe('SUCCESS');
  });

  test('in a transaction it counts what the transaction sees, and remembers nothing', async () => {
    const { gate, give, store, ordered, status } = await world();
    await give(EVA, 'EMAIL', EMAIL);
    await ordered({ amount: '999' });
    const inside = (amount: string) =>
      store
        .transaction()
        .execute((tx) => gate(EVA, { ...ORDER, transaction_type: 'OFFRAMP', source_amount: amount }, tx))
        .then(
          () => null,
          (error: Problem) => error.code,
        );
    expect(await inside('0.5')).toBeNull();
    expect(await inside('1')).toBe('compliance_required');
    expect(await status()).toBe('SUCCESS');
  });

  test('the demo customers of the shipped policy may order up to any amount', async () => {
    const { lacks } = await world({ policy: defaultPolicy });
    const walletDataId = 'dat_demo_ana_wallet';
    expect(
      await lacks(
        { country_code: 'BRA', source_amount: '900000', source_currency: 'BRL', customer_wallet_data_id: walletDataId },
        ANA,
      ),
    ).toEqual([]);
  });
});

test('a sealed field opens in its own place alone: another row, another field or another customer has nothing of it', async () => {
  const { give, store, ports } = await world();
  const dataId = await give(EVA, 'NAME', { name: { firstName: 'Eva', lastName: 'Ejemplo' } });
  const other = await give(EVA, 'EMAIL', EMAIL);
  const open = async (customerId: string, id: string) =>
    (await openData(ports, store, customerId, [id], { files: true })).get(id) ?? null;
  expect(await open(EVA, dataId)).toEqual({ name: { firstName: 'Eva', lastName: 'Ejemplo' } });
  expect(await open(ANA, dataId)).toBeNull();
  const [first] = await store.selectFrom('customer_data_fields').selectAll().where('data_id', '=', dataId).execute();
  const write = (id: string, field: string) =>
    store
      .updateTable('customer_data_fields')
      .set({ value_sealed: first?.value_sealed ?? '' })
      .where('data_id', '=', id)
      .where('field', '=', field)
      .execute();
  await write(other, 'email.value');
  await expect(open(EVA, other)).rejects.toThrow();
  await write(dataId, first?.field === 'name.firstName' ? 'name.lastName' : 'name.firstName');
  await expect(open(EVA, dataId)).rejects.toThrow();
  const namesake = await give(EVA, 'NAME', { name: { firstName: 'Lupe', lastName: 'Otra' } });
  await write(namesake, first?.field ?? '');
  await expect(open(EVA, namesake)).rejects.toThrow();
  await store.updateTable('customer_data').set({ customer_id: ANA }).where('data_id', '=', dataId).execute();
  await expect(open(ANA, dataId)).rejects.toThrow();
});

describe('the retention of customer data', () => {
  const kept = async ({ store }: Awaited<ReturnType<typeof world>>) =>
    (
      await store.selectFrom('customer_data').select('type').where('customer_id', '=', EVA).orderBy('rank').execute()
    ).map(({ type }) => type);

  test('what was neither given nor used for so long is gone, fields and all, and the customer is pending', async () => {
    const here = await world();
    const { give, clock, ports, store, status } = here;
    const dataId = await give(EVA, 'EMAIL', EMAIL);
    clock.advance(60 * DAY_MS);
    await give(EVA, 'PHONE', PHONE);
    clock.advance(40 * DAY_MS - 1);
    await purgeCustomerData(ports);
    expect(await kept(here)).toEqual(['EMAIL', 'PHONE']);
    clock.advance(1);
    await purgeCustomerData(ports);
    expect(await kept(here)).toEqual(['PHONE']);
    const fields = await store.selectFrom('customer_data_fields').selectAll().where('data_id', '=', dataId).execute();
    expect(fields).toEqual([]);
    expect(await status()).toBe('PENDING');
  });

  test('an order that was let through is a use', async () => {
    const here = await world();
    const { give, gate, clock, ports, store } = here;
    await give(EVA, 'EMAIL', EMAIL);
    clock.advance(99 * DAY_MS);
    await store.transaction().execute((tx) => gate(EVA, ORDER, tx));
    clock.advance(99 * DAY_MS);
    await purgeCustomerData(ports);
    expect(await kept(here)).toEqual(['EMAIL']);
  });

  test('nothing goes while an order of the customer is open', async () => {
    const here = await world();
    const { give, clock, ports, ordered, store } = here;
    await give(EVA, 'EMAIL', EMAIL);
    const orderId = await ordered({ status: 'ERROR' });
    clock.advance(400 * DAY_MS);
    await purgeCustomerData(ports);
    expect(await kept(here)).toEqual(['EMAIL']);
    await store.updateTable('partner_orders').set({ status: 'CANCELED' }).where('order_id', '=', orderId).execute();
    await purgeCustomerData(ports);
    expect(await kept(here)).toEqual([]);
  });
});

describe.each(cases([['SQLite', true]], [['PostgreSQL', postgresIsInstalled]]))(
  'attestations on %s',
  (name, isThere) => {
    const policy: Policy = { ...SMALL, rules: [{ name: 'all', require: [{ attestation: 'VALIDATED_EMAIL' }] }] };
    const database = async () => {
      if (name === 'SQLite') return {};
      return { database: await newDatabase() };
    };

    test.runIf(isThere)('two processes begin each once and finish each once', async () => {
      const here = await world({ policy, ...(await database()) });
      const other = await here.again();
      const customers = Array.from({ length: 12 }, (_, index) => `cus_race_${index}`);
      await here.store
        .insertInto('customers')
        .values(
          customers.map((customerId) => ({
            customer_id: customerId,
            environment: here.ports.environment,
            country: 'MEX',
            created_at_ms: here.clock.now(),
          })),
        )
        .execute();
      await Promise.all(
        customers.map((customerId, index) =>
          (index % 2 ? here : other).give(customerId, 'EMAIL', { email: { value: `${index}@example.com` } }),
        ),
      );
      await Promise.all([...customers, ...customers].map((id, index) => (index % 2 ? here : other).status(id)));
      const runs = () =>
        here.store.selectFrom('attestation_runs').selectAll().where('customer_id', 'like', 'cus_race_%').execute();
      expect((await runs()).map(({ state }) => state)).toEqual(customers.map(() => 'running'));
      here.clock.advance(2_000);
      const [a, b] = await Promise.all([here.standing.attestations.runDue(), other.standing.attestations.runDue()]);
      expect(a + b).toBe(customers.length);
      expect((await runs()).map(({ state, fence }) => [state, fence])).toEqual(customers.map(() => ['passed', 1]));
    });

    test.runIf(isThere)(
      'a process that dies with a run in its hands is overtaken, and changes nothing any more',
      async () => {
        const here = await world({ policy, ...(await database()) });
        await here.give(EVA, 'EMAIL', EMAIL);
        here.clock.advance(2_000);
        const [asked, ask] = settledByHand<void>();
        const [verdict, decide] = settledByHand<'rejected'>();
        const held = createStanding(here.ports, () => {
          ask();
          return verdict;
        });
        const hanging = held.attestations.runDue();
        await asked;
        expect(await here.status()).toBe('PROCESSING');
        here.clock.advance(31_000);
        const [secondAsked, askSecond] = settledByHand<void>();
        const [secondVerdict, decideSecond] = settledByHand<'passed'>();
        const overtaking = createStanding(here.ports, () => {
          askSecond();
          return secondVerdict;
        });
        const second = overtaking.attestations.runDue();
        await secondAsked;
        decide('rejected');
        await hanging;
        expect(await here.status()).toBe('PROCESSING');
        decideSecond('passed');
        expect(await second).toBe(1);
        expect(await here.status()).toBe('SUCCESS');
      },
    );
  },
);

test('an attester that fails is asked again, later each time', async () => {
  const here = await world({
    policy: { ...SMALL, rules: [{ name: 'all', require: [{ attestation: 'VALIDATED_EMAIL' }] }] },
  });
  await here.give(EVA, 'EMAIL', EMAIL);
  let asked = 0;
  const failing = createStanding(here.ports, async () => {
    if (++asked < 3) throw new Error('down');
    return 'passed';
  });
  here.clock.advance(2_000);
  await failing.attestations.runDue();
  await failing.attestations.runDue();
  expect(asked).toBe(1);
  here.clock.advance(500);
  await failing.attestations.runDue();
  here.clock.advance(999);
  await failing.attestations.runDue();
  expect(asked).toBe(2);
  here.clock.advance(1);
  await failing.attestations.runDue();
  expect(await here.status()).toBe('SUCCESS');
});

test('a clock that is set back by a year holds no attestation up', async () => {
  const here = await world({
    policy: { ...SMALL, rules: [{ name: 'all', require: [{ attestation: 'VALIDATED_EMAIL' }] }] },
  });
  await here.give(EVA, 'EMAIL', EMAIL);
  here.clock.advance(-365 * DAY_MS);
  expect(await here.status()).toBe('SUCCESS');
});

test('in production nothing is attested by the sandbox', async () => {
  const here = await world({
    policy: { ...SMALL, rules: [{ name: 'all', require: [{ attestation: 'VALIDATED_EMAIL' }] }] },
  });
  const live = createStanding({ ...here.ports, environment: 'live', demo: null });
  await here.store.transaction().execute(async (tx) => {
    await saveData(here.ports, tx, EVA, [{ type: 'EMAIL', value: EMAIL }], here.clock.now());
    await live.settled(tx, EVA);
  });
  here.clock.advance(1000 * DAY_MS);
  expect((await live.now(EVA)).status).toBe('COMPLIANCE_STATUS_PROCESSING');
});

function settledByHand<T>(): [Promise<T>, (value: T) => void] {
  let settle: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return [promise, (value) => settle(value)];
}
