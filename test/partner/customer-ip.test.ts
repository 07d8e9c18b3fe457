import { afterAll, beforeAll, expect, test } from 'vitest';
import { railOf } from './platform-server.ts';
import { callerOf, type Failure, ORDER, openStack, pathOf, type Stack } from './stack.ts';

/** In production the end user's address is one of the public internet: another one is a machine on the way. */

let stack: Stack;
let close: () => Promise<void>;
let create: (customerIp: string) => Promise<readonly [number, string | undefined, string | undefined]>;

beforeAll(async () => {
  stack = await openStack();
  const live = await stack.open({ partnerEnvironment: 'live' });
  close = () => live.close();
  const call = callerOf((request) => live.fetch(request));
  const { readFileSync } = await import('node:fs');
  const operatorKey = readFileSync(await live.operatorKeyFile(), 'utf8').trim();
  const operate = async (path: string, body: object) =>
    (await call(`/operator/${path}`, body, { headers: { authorization: `Bearer ${operatorKey}` } })).body;
  await operate('partners', {
    partner_id: 'par_live',
    name: 'Live',
    type: 'REDIRECT',
    platform_url: 'https://platform.example',
    icon: 'https://platform.example/icon.svg',
    terms_url: 'https://platform.example/terms',
    privacy_policy_url: 'https://platform.example/privacy',
    offering: { rails: [railOf('ONRAMP', 'BRL', 'SOLANA_USDC', 'BRA_PIX')] },
  });
  await operate('customers', { customer_id: 'cus_live', country: 'BRA', partner_ids: ['par_live'] });
  const key = String((await operate('partner-keys', { partner_id: 'par_live', name: 'test' })).key);
  const token = String((await operate('customer-tokens', { customer_id: 'cus_live' })).token);
  create = async (customerIp) => {
    const body = { ...ORDER, partnerId: 'par_live', customerIp };
    const answer = await call<Failure>(pathOf('customer', 'CreateOrder'), body, { key, token });
    return [answer.status, answer.body.detail?.reason, answer.body.detail?.issues?.[0]?.path];
  };
});
afterAll(async () => {
  await close();
  await stack.close();
});

test.each(['127.0.0.1', '10.0.0.7', '192.168.1.5', '::1', 'fd00::7', '169.254.1.1'])(
  '%s is refused',
  async (customerIp) => {
    expect(await create(customerIp)).toEqual([400, 'invalid_request', 'customerIp']);
  },
);

test('a public one passes; what is asked for next is compliance', async () => {
  expect(await create('8.8.8.8')).toEqual([400, 'compliance_required', undefined]);
});
