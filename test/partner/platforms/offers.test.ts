import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore, type Store } from '../../../src/service/home.ts';
import { type Offering, offeringSchema, quoteOf } from '../../../src/wire/partner/offers.ts';
import { openStack, type Stack } from '../stack.ts';

/** CONTRACT, section 12: offers, what they are worth and how they rank. */

interface Offers {
  readonly partners: readonly {
    readonly partnerId: string;
    readonly partnerName: string;
    readonly toAmount: string;
    readonly type: string;
  }[];
  readonly detail?: { readonly issues?: readonly { readonly path: string }[] };
}

const WANTED = {
  countryCode: 'BRA',
  rampType: 'ONRAMP',
  fromCurrency: 'BRL',
  toCurrency: 'SOLANA_USDC',
  paymentMethod: 'BRA_PIX',
  fromAmount: '500',
};

let stack: Stack;
let store: Store;
beforeAll(async () => {
  stack = await openStack();
  store = await openStore(join(stack.home, 'service.db'));
});
afterAll(async () => {
  await store.destroy();
  await stack.close();
});

const offers = async (more: object = {}) =>
  (await stack.customer<Offers>('GetAvailablePartners', { ...WANTED, ...more }, { token: null })).body;
const idsOf = ({ partners }: Offers) => partners.map(({ partnerId }) => partnerId);

describe('GetAvailablePartners', () => {
  test('ranks by what the customer receives; a key is enough', async () => {
    const found = await offers();
    expect(idsOf(found)).toEqual(['par_sandbox_pix', 'par_sandbox_bank', 'par_sandbox_redirect']);
    const amounts = found.partners.map(({ toAmount }) => Number(toAmount));
    expect([...amounts].sort((a, b) => b - a)).toEqual(amounts);
    expect(found.partners[0]).toEqual({
      partnerId: 'par_sandbox_pix',
      partnerName: 'Pixário Sandbox',
      // 500 less 0.9 %, at 0.181, cut off after 6 decimals.
      toAmount: '89.6855',
      icon: expect.stringMatching(/^https:/),
      type: 'INTEGRATION',
      termsUrl: expect.stringMatching(/^https:/),
      privacyPolicyUrl: expect.stringMatching(/^https:/),
    });
  });

  test.each([
    ['too little', { fromAmount: '19.99' }, []],
    ['only one takes so little', { fromAmount: '20' }, ['par_sandbox_pix']],
    ['only one takes so much', { fromAmount: '20000.01' }, ['par_sandbox_bank']],
    ['too much', { fromAmount: '50000.000000000000000001' }, []],
    ['another country', { countryCode: 'DEU' }, []],
    ['another currency', { fromCurrency: 'ARS' }, []],
    ['another method', { paymentMethod: 'BRA_CARD' }, ['par_sandbox_redirect']],
    ['another direction', { rampType: 'OFFRAMP', fromCurrency: 'SOLANA_USDC', toCurrency: 'USD' }, []],
    ['integrations alone', { partnerTypes: ['INTEGRATION'] }, ['par_sandbox_pix', 'par_sandbox_bank']],
    ['redirects alone', { partnerTypes: ['REDIRECT'] }, ['par_sandbox_redirect']],
    ['any type', { partnerTypes: ['TYPE_UNDEFINED'] }, ['par_sandbox_pix', 'par_sandbox_bank', 'par_sandbox_redirect']],
  ])('%s', async (_what, more, expected) => {
    expect(idsOf(await offers(more))).toEqual(expected);
  });

  test.each(Object.keys(WANTED))('%s is required', async (field) => {
    const { [field as keyof typeof WANTED]: _left, ...rest } = WANTED;
    const answer = await stack.customer<Offers>('GetAvailablePartners', rest);
    expect(answer.status).toBe(400);
    expect(answer.body.detail?.issues?.map(({ path }) => path)).toEqual([field]);
  });

  test('nothing, less than nothing and no number are refused by name', async () => {
    for (const fromAmount of ['0', '0.000', '-1', '1e3', 'ten', '1.', '', '1,5', '01']) {
      const answer = await stack.customer<Offers>('GetAvailablePartners', { ...WANTED, fromAmount });
      expect(answer.status).toBe(400);
      expect(answer.body.detail?.issues?.[0]?.path).toBe('fromAmount');
    }
  });

  test('of two that give the same, the one that answers more reliably comes first, then the name', async () => {
    const [pix] = await store.selectFrom('partners').selectAll().where('partner_id', '=', 'par_sandbox_pix').execute();
    if (!pix) throw new Error('no partner');
    for (const [partner_id, name] of [
      ['par_test_b', 'Aaa'],
      ['par_test_a', 'Bbb'],
    ] as const)
      await store
        .insertInto('partners')
        .values({ ...pix, partner_id, name })
        .execute();
    const three = ['par_test_b', 'par_test_a', 'par_sandbox_pix'];
    expect(idsOf(await offers()).slice(0, 3)).toEqual(three);
    const row = { failures: 0, open_until_ms: 0, updated_at_ms: 0 };
    await store
      .insertInto('partner_breakers')
      .values([
        { ...row, partner_id: 'par_sandbox_pix', calls: 10, answered: 10 },
        { ...row, partner_id: 'par_test_b', calls: 10, answered: 2 },
      ])
      .execute();
    expect(idsOf(await offers()).slice(0, 3)).toEqual(['par_sandbox_pix', 'par_test_a', 'par_test_b']);
    await store.updateTable('partners').set({ enabled: 0 }).where('partner_id', 'like', 'par_test_%').execute();
    expect(idsOf(await offers())).not.toContain('par_test_a');
  });
});

describe('what an offer is worth', () => {
  const offering = (more: object): Offering =>
    offeringSchema.parse({
      rails: [
        {
          rampType: 'ONRAMP',
          fromCurrency: 'EUR',
          toCurrency: 'SOLANA_USDC',
          paymentMethods: ['X'],
          minAmount: '0.000000000000000001',
          maxAmount: '999999999999999999.999999999999999999',
          rate: '1',
          decimals: 18,
          fromDecimals: 18,
          ...more,
        },
      ],
    });
  const worth = (fromAmount: string, more: object = {}) =>
    quoteOf(offering(more), {
      rampType: 'ONRAMP',
      fromCurrency: 'EUR',
      toCurrency: 'SOLANA_USDC',
      paymentMethod: 'X',
      fromAmount,
    });

  test('an amount finer than its currency is not sold', () => {
    const sold = (fromCurrency: string, fromAmount: string) => {
      const rail = { ...offering({ fromDecimals: undefined }).rails[0], fromCurrency };
      return quoteOf(offeringSchema.parse({ rails: [rail] }), {
        rampType: 'ONRAMP',
        fromCurrency,
        toCurrency: 'SOLANA_USDC',
        paymentMethod: 'X',
        fromAmount,
      }).kind;
    };
    expect([sold('EUR', '10.05'), sold('EUR', '10.050'), sold('EUR', '10.005')]).toEqual([
      'quote',
      'quote',
      'too_fine',
    ]);
    expect([sold('JPY', '10'), sold('JPY', '10.5')]).toEqual(['quote', 'too_fine']);
    expect([sold('KWD', '1.005'), sold('KWD', '1.0005')]).toEqual(['quote', 'too_fine']);
  });

  test('is exact where a float would not be, at both ends of what a decimal holds', () => {
    expect(worth('0.1', { rate: '3' })).toEqual({ kind: 'quote', toAmount: '0.3' });
    expect(worth('999999999999999999.999999999999999999')).toEqual({
      kind: 'quote',
      toAmount: '999999999999999999.999999999999999999',
    });
    expect(worth('0.000000000000000001')).toEqual({ kind: 'quote', toAmount: '0.000000000000000001' });
  });

  test('is cut off, never rounded up; what comes to nothing is no offer', () => {
    expect(worth('1.999', { decimals: 2 })).toEqual({ kind: 'quote', toAmount: '1.99' });
    expect(worth('0.009', { decimals: 2 }).kind).toBe('outside_limits');
    expect(worth('5', { feeFixed: '5' }).kind).toBe('outside_limits');
    expect(worth('5', { feePercent: '100' }).kind).toBe('outside_limits');
    // More than an amount can hold is no amount.
    expect(worth('999999999999999999', { rate: '10' }).kind).toBe('outside_limits');
    expect(worth('105', { feeFixed: '5', feePercent: '10', decimals: 2 })).toEqual({ kind: 'quote', toAmount: '90' });
  });
});
