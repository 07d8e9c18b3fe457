import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore, type Store } from '../../src/service/home.ts';
import { openPlatform, type Platform, railOf } from './platform-server.ts';
import { BANK, type Failure, ORDER, type OrderAnswer, openStack, REDIRECT, type Stack } from './stack.ts';

/** What is exchanged: the sides of an order, its codes, and the network of its wallet. */

const OWN = 'par_own';
const OWN_REDIRECT = 'par_own_redirect';
const ETHEREUM_ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const SOLANA_ADDRESS = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
const RAILS = [
  railOf('ONRAMP', 'BRL', 'ETH_USDC', 'BRA_PIX'),
  railOf('ONRAMP', 'BRL', 'BASE_USDC', 'BRA_PIX'),
  railOf('OFFRAMP', 'ETH_USDC', 'BRL', 'BRA_PIX'),
];

let stack: Stack;
let platform: Platform;
let store: Store;
/** A wallet of the customer's by its network. */
const wallets: Record<string, string> = {};

beforeAll(async () => {
  stack = await openStack();
  store = await openStore(join(stack.home, 'service.db'));
  platform = await openPlatform();
  await platform.partner(stack, OWN, 'INTEGRATION', RAILS);
  await platform.partner(stack, OWN_REDIRECT, 'REDIRECT', RAILS);
  wallets.SOLANA = await wallet('SOLANA', SOLANA_ADDRESS);
});
afterAll(async () => {
  await store.destroy();
  await stack.close();
  await platform.close();
});

async function wallet(type: string, address: string): Promise<string> {
  const given = await stack.customer<{ items: { dataId: string }[] }>('SubmitCustomerData', {
    data: [{ cryptoWallet: { type, address } }],
  });
  return given.body.items[0]?.dataId ?? '';
}

type Created = OrderAnswer & { readonly redirectUrl?: string };
const create = (more: object) =>
  stack.customer<Created>('CreateOrder', { ...ORDER, partnerId: OWN, toCurrency: 'ETH_USDC', ...more });
const offers = (more: object = {}) => {
  const { partnerId: _, ...wanted } = ORDER;
  return stack.customer<{ partners: { partnerId: string }[] } & Failure>('GetAvailablePartners', {
    ...wanted,
    ...more,
  });
};

/** Refused for this field, and nothing was sent. */
async function expectRefused(answer: Promise<{ status: number; body: Failure }>, field: string) {
  const before = platform.received.length;
  const { status, body } = await answer;
  expect([status, body.code], JSON.stringify(body)).toEqual([400, 'invalid_argument']);
  expect(body.detail?.issues?.map(({ path }) => path)).toContain(field);
  expect(platform.received).toHaveLength(before);
  return body.detail?.issues?.find(({ path }) => path === field)?.message ?? '';
}

describe('the wallet of an order is on the network of its crypto currency', () => {
  test('an alias of a network gets a wallet of that network, and of no other', async () => {
    await expectRefused(create({}), 'customerWalletDataId');
    await expectRefused(create({ customerWalletDataId: wallets.SOLANA }), 'customerWalletDataId');
    wallets.ETHEREUM = await wallet('ETHEREUM', ETHEREUM_ADDRESS);
    const taken = await create({});
    expect(taken.status, JSON.stringify(taken.body)).toBe(200);
    expect(taken.body.order).toMatchObject({ customerWalletDataId: wallets.ETHEREUM });
    expect(platform.received.at(-1)?.body).toMatchObject({
      network: 'ETHEREUM',
      toCurrency: 'ETH_USDC',
      customerWalletDataId: wallets.ETHEREUM,
    });
  });

  test('a wallet of Ethereum is not one of Base, though both have the same form', async () => {
    const customerWalletDataId = wallets.ETHEREUM;
    await expectRefused(create({ toCurrency: 'BASE_USDC', customerWalletDataId }), 'customerWalletDataId');
    await expectRefused(create({ toCurrency: 'BASE_USDC' }), 'customerWalletDataId');
  });

  test('an order that sells names the wallet that the crypto comes from, on its network too', async () => {
    const sells = { rampType: 'OFFRAMP', fromCurrency: 'ETH_USDC', toCurrency: 'BRL' };
    await expectRefused(create({ ...sells, customerWalletDataId: wallets.SOLANA }), 'customerWalletDataId');
    expect((await create(sells)).status).toBe(200);
    expect(platform.received.at(-1)?.body).toMatchObject({ network: 'ETHEREUM', type: 'OFFRAMP' });
  });

  test('an address for a redirect partner is one of that network', async () => {
    for (const walletAddress of ['garbage', SOLANA_ADDRESS, `${ETHEREUM_ADDRESS.slice(0, -1)}e`, ' ']) {
      await expectRefused(
        create({ partnerId: OWN_REDIRECT, customerIp: '203.0.113.7', walletAddress }),
        'walletAddress',
      );
    }
    await expectRefused(
      create({ partnerId: OWN_REDIRECT, customerIp: '203.0.113.7', customerWalletDataId: wallets.SOLANA }),
      'customerWalletDataId',
    );
    const lower = ETHEREUM_ADDRESS.toLowerCase();
    expect((await create({ partnerId: OWN_REDIRECT, customerIp: '203.0.113.7', walletAddress: lower })).status).toBe(
      200,
    );
    expect(platform.received.at(-1)?.body.network).toBe('ETHEREUM');
  });

  test.each([
    ['XRP_XRP', OWN],
    ['STELLAR_USDC', OWN],
    ['LIGHTNING_BTC', OWN],
    ['XRP_XRP', OWN_REDIRECT],
  ])('%s is on a network that has no wallets here: refused', async (toCurrency, partnerId) => {
    await expectRefused(create({ partnerId, toCurrency }), 'toCurrency');
    await expectRefused(create({ partnerId, toCurrency, network: 'SOLANA' }), 'toCurrency');
    await expectRefused(offers({ toCurrency }), 'toCurrency');
  });

  test.each(['BTC', 'TRX', 'AVAX', 'MATIC', 'POL', 'ARB', 'OP', 'BNB', 'SOL', 'ETHEREUM'])(
    'a network that is given, %s, is that of the crypto currency or refused',
    async (network) => {
      if (network === 'ETHEREUM') expect((await create({ network })).status).toBe(200);
      else await expectRefused(create({ network }), 'network');
    },
  );

  test('an offering on a network that cannot be served is refused, and one on record sells nothing', async () => {
    const rails = [railOf('ONRAMP', 'BRL', 'XRP_XRP', 'BRA_PIX')];
    await expect(platform.partner(stack, 'par_xrp', 'INTEGRATION', rails)).rejects.toThrow(
      /400.*offering\.rails\.0\.toCurrency/,
    );
    // As a version that took it has left it.
    await store
      .updateTable('partners')
      .set({ offering: JSON.stringify({ rails: [...rails, ...RAILS] }) })
      .where('partner_id', '=', OWN)
      .execute();
    await expectRefused(offers({ toCurrency: 'XRP_XRP' }), 'toCurrency');
    const sold = (await offers({ toCurrency: 'ETH_USDC' })).body.partners;
    expect(sold.map(({ partnerId }) => partnerId)).toContain(OWN);
  });

  test('an order on record that names a wallet of another network is not sent, and is given to a person', async () => {
    const { order } = (await create({})).body;
    const before = platform.received.length;
    // As a version without the check has left it: begun, perhaps sent, its answer lost.
    await store
      .updateTable('partner_orders')
      .set({ creation: 'creating', status: null, customer_wallet_data_id: wallets.SOLANA ?? '', due_at_ms: 1 })
      .where('order_id', '=', order.id)
      .execute();
    await store.deleteFrom('partner_order_changes').where('order_id', '=', order.id).execute();
    await stack.service.worker.runDue();
    expect(platform.received).toHaveLength(before);
    const row = await store
      .selectFrom('partner_orders')
      .select(['creation', 'status', 'last_error'])
      .where('order_id', '=', order.id)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({ creation: 'created', status: 'ERROR' });
    expect(row.last_error).toContain('wallet');
  });
});

describe('ONRAMP is from fiat to crypto, OFFRAMP from crypto to fiat', () => {
  type Sides = { rampType: 'ONRAMP' | 'OFFRAMP'; fromCurrency: string; toCurrency: string; network?: string };
  const WRONG: readonly [Sides, string][] = [
    [{ rampType: 'ONRAMP', fromCurrency: 'SOLANA_EURC', toCurrency: 'SOLANA_USDC' }, 'fromCurrency'],
    [{ rampType: 'ONRAMP', fromCurrency: 'SOLANA_USDC', toCurrency: 'EUR', network: 'SOLANA' }, 'fromCurrency'],
    [{ rampType: 'ONRAMP', fromCurrency: 'EUR', toCurrency: 'USD' }, 'toCurrency'],
    [{ rampType: 'ONRAMP', fromCurrency: 'EUR', toCurrency: 'USD', network: 'SOLANA' }, 'toCurrency'],
    [{ rampType: 'OFFRAMP', fromCurrency: 'EUR', toCurrency: 'SOLANA_USDC' }, 'fromCurrency'],
    [{ rampType: 'OFFRAMP', fromCurrency: 'SOLANA_USDC', toCurrency: 'SOLANA_EURC' }, 'toCurrency'],
    [{ rampType: 'OFFRAMP', fromCurrency: 'EUR', toCurrency: 'USD', network: 'SOLANA' }, 'fromCurrency'],
  ];

  test('the sides of an order are held to its direction, at an integration and at a redirect partner', async () => {
    for (const [wrong, field] of WRONG) {
      for (const partnerId of [OWN, OWN_REDIRECT, BANK, REDIRECT]) {
        await expectRefused(stack.customer('CreateOrder', { ...ORDER, partnerId, ...wrong }), field);
      }
    }
    const rows = await store
      .selectFrom('partner_orders')
      .select('order_id')
      .where('source_currency', 'in', ['SOLANA_EURC', 'EUR'])
      .where('customer_id', '=', 'cus_demo_ana')
      .execute();
    expect(rows).toEqual([]);
  });

  test('the sides of an offer are held to its direction, where it is asked for and where it is made', async () => {
    for (const [wrong, field] of WRONG) {
      const { rampType, fromCurrency, toCurrency } = wrong;
      await expectRefused(offers({ rampType, fromCurrency, toCurrency }), field);
      const rails = [railOf(rampType, fromCurrency, toCurrency, 'BRA_PIX')];
      await expect(platform.partner(stack, 'par_wrong', 'INTEGRATION', rails)).rejects.toThrow(/400/);
    }
  });

  test('both directions of the demo go through', async () => {
    const sells = { rampType: 'OFFRAMP', fromCurrency: 'SOLANA_USDC', toCurrency: 'BRL' };
    expect((await offers()).body.partners.length).toBeGreaterThan(0);
    expect((await offers(sells)).body.partners.length).toBeGreaterThan(0);
    expect((await stack.created()).status).toBe('AWAITING_FUNDS');
    expect((await stack.created({ ...sells, partnerId: 'par_sandbox_pix' })).status).toBe('AWAITING_FUNDS');
  });
});

describe('codes', () => {
  const NO_CODES: readonly [string, string, string | null][] = [
    ['fromCurrency', 'brl', 'BRL'],
    ['fromCurrency', 'BR', 'BRL'],
    ['fromCurrency', 'XAU', null],
    ['fromCurrency', 'XXX', null],
    ['fromCurrency', 'XTS', null],
    ['fromCurrency', 'DEM', null],
    ['toCurrency', 'USDC', 'SOLANA_USDC'],
    ['toCurrency', 'solana_usdc', 'SOLANA_USDC'],
    ['toCurrency', 'SOLANA_USCD', 'SOLANA_USDC'],
    ['toCurrency', 'SOLANA_', 'SOLANA_USDC'],
    ['paymentMethod', 'x', null],
    ['paymentMethod', 'bra_pix', 'BRA_PIX'],
    ['paymentMethod', 'BRA_PIXX', 'BRA_PIX'],
    ['countryCode', 'ZZZ', null],
    ['countryCode', 'XKX', null],
    ['countryCode', 'bra', 'BRA'],
    ['countryCode', 'BR', 'BRA'],
    ['rampType', 'onramp', null],
  ];

  test('a code that is none, in this case or at all, is refused by its field, with what is close', async () => {
    for (const [field, value, close] of NO_CODES) {
      const wanted = { ...ORDER, [field]: value };
      const words = await expectRefused(stack.customer('CreateOrder', wanted), field);
      if (close !== null) expect([value, words]).toEqual([value, expect.stringMatching(near(close))]);
      const { partnerId: _, ...offered } = wanted;
      expect(await expectRefused(stack.customer('GetAvailablePartners', offered), field)).toBe(words);
    }
  });
  const near = (close: string) => new RegExp(`Did you mean .*\\b${close}\\b`);

  test('a currency of the ISO list that nobody offers is no mistake: nobody offers it', async () => {
    expect((await offers({ fromCurrency: 'JPY' })).body.partners).toEqual([]);
    expect((await offers({ fromCurrency: 'XOF' })).body.partners).toEqual([]);
    expect((await offers({ countryCode: 'ATA' })).body.partners).toEqual([]);
  });

  test('countries of customers and of offerings are on the ISO list', async () => {
    await expect(stack.operator('customers', { country: 'ZZZ' })).rejects.toThrow(/400.*country/);
    const rails = [{ ...railOf('ONRAMP', 'BRL', 'SOLANA_USDC', 'BRA_PIX'), countries: ['ZZZ'] }];
    await expect(platform.partner(stack, 'par_wrong', 'INTEGRATION', rails)).rejects.toThrow(/400.*countries/);
  });
});
