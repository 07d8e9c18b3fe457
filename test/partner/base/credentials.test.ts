import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { partnerSettings } from '../../../src/cli/session/here.ts';
import { ANA, BANK, BO, type Failure, openStack, PARTNERS, PIX, type Stack } from '../stack.ts';

/** Keys and tokens: one environment, revocable, rotating with an overlap, and never kept in clear. */

let stack: Stack;
beforeAll(async () => {
  stack = await openStack();
});
afterAll(() => stack.close());

const works = async (key: string | null) => (await stack.partner('GetOrders', {}, { key })).status;
const act = (keyId: string, what: string, body: object = {}) =>
  stack.operator<{ key_id: string; key: string; revoked_at: string | null; expires_at: string | null }>(
    `partner-keys/${keyId}/${what}`,
    body,
  );

describe('partner keys', () => {
  test('a missing, a mistyped and another environment’s key are 401, all of them alike', async () => {
    for (const key of [null, 'x', `${stack.key}x`, stack.key.toUpperCase(), 'flk_demo_', 'flk_demo_ü']) {
      const safe = key === 'flk_demo_ü' ? encodeURIComponent(key) : key;
      expect(await works(safe)).toBe(401);
    }
    const other = stack.key.replace('flk_demo_', 'flk_live_');
    const { status, body } = await stack.partner<Failure>('GetOrders', {}, { key: other });
    expect([status, body.code]).toEqual([401, 'unauthenticated']);
  });

  test('a revoked key works no more, from the next call on, and revoking again is the same', async () => {
    const { key, key_id } = await stack.issueKey(BANK);
    expect(await works(key)).toBe(200);
    const revoked = await act(key_id, 'revoke');
    expect(await works(key)).toBe(401);
    expect(await act(key_id, 'revoke')).toEqual(revoked);
  });

  test('a rotated key goes on for the overlap, and not a moment longer', async () => {
    const { key, key_id } = await stack.issueKey(BANK);
    const next = await act(key_id, 'rotate', { overlap_hours: 2 });
    expect([await works(key), await works(next.key)]).toEqual([200, 200]);
    stack.clock.advance(2 * 3_600_000);
    expect([await works(key), await works(next.key)]).toEqual([401, 200]);
    await expect(act(key_id, 'rotate', {})).rejects.toThrow(/partner_key_revoked/);
  });

  test('without an overlap the old key is gone at once', async () => {
    const { key, key_id } = await stack.issueKey(BANK);
    await act(key_id, 'rotate', { overlap_hours: 0 });
    expect(await works(key)).toBe(401);
  });

  test('are listed by name, never shown again, and kept as keyed hashes', async () => {
    const { key, key_id } = await stack.issueKey(PIX);
    const listed = JSON.stringify(await stack.operator('partner-keys'));
    expect(listed).toContain(key_id);
    expect(listed).not.toContain(key.slice(9));
    const disk = ['service.db', 'service.db-wal']
      .map((file) => readFileSync(join(stack.home, file), 'latin1'))
      .join('');
    expect(disk).toContain(key_id);
    expect(disk).not.toContain(key);
    expect(disk).not.toContain(stack.token);
  });

  test('every act with a key is in the audit trail, with nothing secret in it', async () => {
    const { key, key_id } = await stack.issueKey(BANK);
    await act(key_id, 'revoke');
    await stack.issueToken(ANA);
    const trail = JSON.stringify(await stack.operator('audit'));
    for (const action of ['partner_key.issue', 'partner_key.revoke', 'customer_token.issue'])
      expect(trail).toContain(action);
    expect(trail).not.toContain(key);
  });

  test('only an operator may touch them', async () => {
    for (const path of ['partners', 'partner-keys', 'customers', 'customer-tokens']) {
      for (const method of ['GET', 'POST']) {
        const answer = await stack.call<Failure>(`/operator/${path}`, {}, { method });
        expect([path, answer.status, answer.body.code]).toEqual([path, 401, 'operator_key_required']);
      }
    }
    const asPartner = await stack.call<Failure>(
      '/operator/partner-keys',
      {},
      { headers: { authorization: `Bearer ${stack.key}` } },
    );
    expect(asPartner.body.code).toBe('operator_key_invalid');
  });
});

describe('customer tokens', () => {
  const requirements = async (token: string | null) =>
    (await stack.customer('GetOnboardingRequirements', {}, { token })).status;

  test('expire after 15 minutes, or when they are told to', async () => {
    const [usual, short] = [await stack.issueToken(ANA), await stack.issueToken(ANA, 1)];
    expect([await requirements(usual), await requirements(short)]).toEqual([200, 200]);
    stack.clock.advance(60_000);
    expect([await requirements(usual), await requirements(short)]).toEqual([200, 401]);
    stack.clock.advance(14 * 60_000);
    expect(await requirements(usual)).toBe(401);
  });

  test('a missing and a wrong one are 401; an API key is no token', async () => {
    const token = await stack.issueToken(BO);
    for (const wrong of [null, 'x', `${token}x`, stack.key]) expect(await requirements(wrong)).toBe(401);
    expect(await requirements(token)).toBe(200);
  });

  test('a token without an API key opens nothing', async () => {
    const answer = await stack.customer('GetOnboardingRequirements', {}, { key: null });
    expect(answer.status).toBe(401);
  });

  test('nobody is minted a token who is not a customer here', async () => {
    await expect(stack.issueToken('cus_nobody')).rejects.toThrow(/customer_not_found/);
  });
});

describe('a demo', () => {
  test('has partners, customers, keys in private files, and orders, from the first call on', async () => {
    for (const partnerId of PARTNERS) {
      const path = join(stack.home, 'keys', `partner-${partnerId}.key`);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(await works(readFileSync(path, 'utf8').trim())).toBe(200);
    }
    const { body } = await stack.partner<{ totalCount: number }>('GetOrders', {});
    expect(body.totalCount).toBeGreaterThanOrEqual(4);
  });

  test('is made once, though two processes begin at the same time', async () => {
    const home = mkdtempSync(join(tmpdir(), 'farelock-seed-'));
    const [first, second] = await Promise.all([openStack({ home }), openStack({ home })]);
    for (const one of [first, second]) {
      const { body } = await one.partner<{ totalCount: number }>('GetOrders', {});
      expect(body.totalCount).toBe(4);
      const { keys } = await one.operator<{ keys: { partner_id: string; name: string }[] }>('partner-keys');
      expect(keys.filter(({ name }) => name === 'sandbox').map((key) => key.partner_id)).toEqual(PARTNERS);
    }
    await second.service.close();
    await first.close();
  });

  test('a key of it that was revoked stays revoked in the next process', async () => {
    const fresh = await openStack();
    const key = readFileSync(join(fresh.home, 'keys', `partner-${PIX}.key`), 'utf8').trim();
    const { keys } = await fresh.operator<{ keys: { key_id: string; partner_id: string }[] }>('partner-keys');
    await fresh.operator(`partner-keys/${keys.find((one) => one.partner_id === PIX)?.key_id}/revoke`, {});
    const next = await fresh.open();
    const answer = await next.fetch(
      new Request('http://service.test/farelock.core.v1.partner.Service/GetOrders', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': key },
        body: '{}',
      }),
    );
    expect(answer.status).toBe(401);
    await next.close();
    await fresh.close();
  });
});

describe('another environment', () => {
  test('live has no demo partners, and takes no demo key; its keys are no demo keys', async () => {
    const live = await stack.open({ partnerEnvironment: 'live' });
    const ask = (path: string, headers: Record<string, string>, body: object = {}) =>
      live.fetch(
        new Request(`http://service.test${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        }),
      );
    const orders = '/farelock.core.v1.partner.Service/GetOrders';
    expect((await ask(orders, { 'x-api-key': stack.key })).status).toBe(401);
    const operator = {
      authorization: `Bearer ${readFileSync(join(stack.home, 'keys', 'operator.key'), 'utf8').trim()}`,
    };
    const demo = await ask('/operator/partner-keys', operator, { partner_id: BANK, name: 'x' });
    expect([demo.status, await demo.json()]).toMatchObject([404, { code: 'partner_not_found' }]);
    const taken = await ask('/operator/partners', operator, { ...PARTNER, partner_id: BANK });
    expect(taken.status).toBe(400);
    const made = await ask('/operator/partners', operator, { ...PARTNER, partner_id: 'par_live' });
    expect([made.status, await made.json()]).toMatchObject([
      200,
      { environment: 'live', webhook_secret: expect.stringMatching(/^whsec_/) as string },
    ]);
    const issued = (await (
      await ask('/operator/partner-keys', operator, { partner_id: 'par_live', name: 'x' })
    ).json()) as { key: string };
    expect(issued.key).toMatch(/^flk_live_/);
    expect((await ask(orders, { 'x-api-key': issued.key })).status).toBe(200);
    expect(await works(issued.key)).toBe(401);
    const again = (await (
      await ask('/operator/partners', operator, { ...PARTNER, partner_id: 'par_live', name: 'New' })
    ).json()) as Record<string, unknown>;
    expect(again).toMatchObject({ name: 'New' });
    expect(again).not.toHaveProperty('webhook_secret');
    await live.close();
  });

  test('is chosen by the environment, and nothing else than demo or live is', () => {
    expect(partnerSettings({}, undefined).partnerEnvironment).toBeUndefined();
    expect(partnerSettings({ FARELOCK_ENVIRONMENT: 'live' }, undefined).partnerEnvironment).toBe('live');
    expect(partnerSettings({ FARELOCK_ENVIRONMENT: 'demo' }, true).partnerEnvironment).toBe('live');
    for (const wrong of [
      { FARELOCK_ENVIRONMENT: 'production' },
      { FARELOCK_SERVICE_NAME: 'a/b' },
      { FARELOCK_ATTESTATION_MS: 'soon' },
    ])
      expect(() => partnerSettings(wrong, undefined)).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});

const PARTNER = {
  name: 'Live',
  type: 'INTEGRATION',
  platform_url: 'https://platform.example',
  icon: 'https://platform.example/icon.svg',
  terms_url: 'https://platform.example/terms',
  privacy_policy_url: 'https://platform.example/privacy',
  offering: { rails: [] },
};
