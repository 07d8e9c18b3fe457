import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HOSTILE } from './hostile-urls.ts';
import { openStack, type Stack } from './stack.ts';

/** CONTRACT, section 13: an address that may not be called is refused when an operator gives it. */

const PARTNER = {
  partner_id: 'par_new',
  name: 'New',
  type: 'INTEGRATION',
  platform_url: 'https://platform.example',
  icon: 'https://platform.example/icon.svg',
  terms_url: 'https://platform.example/terms',
  privacy_policy_url: 'https://platform.example/privacy',
  offering: { rails: [] },
};

interface Refused {
  readonly code: string;
  readonly detail: { readonly reason: string };
}

let stack: Stack;
let headers: Record<string, string>;

beforeAll(async () => {
  stack = await openStack();
  const key = readFileSync(join(stack.home, 'keys', 'operator.key'), 'utf8').trim();
  headers = { authorization: `Bearer ${key}` };
});
afterAll(() => stack.close());

const put = (platform_url: string) =>
  stack.call<Refused>('/operator/partners', { ...PARTNER, platform_url }, { headers });

const listed = async () =>
  (await stack.operator<{ partners: { partner_id: string; platform_url: string }[] }>('partners')).partners;

test.each(HOSTILE)('a partner at %s is refused at once, by its rule: %s', async (url, rule) => {
  const { status, body } = await put(url);
  expect(status).toBe(400);
  // A text without a letter, or of pages, is refused as a field before it is read as an address.
  if (url === '' || url.length > 500) expect(body.code).toBe('invalid_request');
  else expect([body.code, body.detail.reason]).toEqual(['partner_url_refused', rule]);
});

test('nothing is kept of a partner that was refused, and one that is there keeps its address', async () => {
  await put('https://169.254.169.254/latest');
  expect((await listed()).map(({ partner_id }) => partner_id)).not.toContain('par_new');
  expect((await put('https://platform.example')).status).toBe(200);
  expect((await put('https://127.0.0.1')).status).toBe(400);
  expect((await listed()).find(({ partner_id }) => partner_id === 'par_new')).toMatchObject({
    platform_url: 'https://platform.example',
  });
});

test('a change of a partner is in the audit trail, each field with what it was and what it is', async () => {
  const rail = (maxAmount: string) => ({
    rampType: 'ONRAMP',
    fromCurrency: 'EUR',
    toCurrency: 'SOLANA_USDC',
    paymentMethods: ['DEU_SEPA'],
    minAmount: '1',
    maxAmount,
    rate: '1',
    feeFixed: '0',
    feePercent: '0',
    decimals: 2,
  });
  const audited = async () =>
    (
      await stack.operator<{ entries: { action: string; subject: string; detail: object }[] }>(
        'audit?subject=par_audited',
      )
    ).entries.filter(({ subject }) => subject === 'par_audited');
  const own = { ...PARTNER, partner_id: 'par_audited', offering: { rails: [rail('10'), rail('20')] } };
  await stack.operator('partners', own);
  await stack.operator('partners', {
    ...own,
    platform_url: 'https://elsewhere.example',
    enabled: false,
    offering: { rails: [rail('10'), rail('30')] },
  });
  const [changed] = (await audited()).filter(({ action }) => action === 'partner.change');
  expect(changed?.detail).toEqual({
    changed: {
      platform_url: { before: 'https://platform.example', after: 'https://elsewhere.example' },
      enabled: { before: 1, after: 0 },
      offering: { before: [rail('20')], after: [rail('30')] },
    },
  });
  const [made] = (await audited()).filter(({ action }) => action === 'partner.create');
  expect(made?.detail).toMatchObject({
    changed: { platform_url: { before: null, after: 'https://platform.example' } },
  });
});

test('live takes no loopback address, and not the sandbox platform in the process', async () => {
  const live = await stack.open({ partnerEnvironment: 'live' });
  for (const [platform_url, rule] of [
    ['http://127.0.0.1:8080/bank', 'scheme'],
    ['https://platform.sandbox.farelock.invalid/bank', 'reserved_host'],
  ]) {
    expect((await put(platform_url ?? '')).status).toBe(200);
    const answer = await live.fetch(
      new Request('http://service.test/operator/partners', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ ...PARTNER, partner_id: 'par_live', platform_url }),
      }),
    );
    expect([answer.status, await answer.json()]).toMatchObject([400, { detail: { reason: rule } }]);
  }
  await live.close();
});
