import { expect, test } from 'vitest';
import { keepEvidence } from '../../../src/airlines/browser/exits.ts';
import { createOperatorKeys } from '../../../src/flights/desk/keys.ts';
import { prune } from '../../../src/flights/upkeep/sweeper.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import type { AuditTrail, StuckEvidence } from '../../../src/wire/flights/index.ts';
import { recipeFor } from '../../airlines/browser/site.ts';
import { openWorld } from '../world.ts';

const DAY_MS = 86_400_000;

/** A page that can't be drawn any more: of it, the address is left. */
const goneAt = (url: string) => ({
  url: () => url,
  context: () => ({ newCDPSession: () => Promise.reject(new Error('gone')) }),
});

test('an operator sees the page on which a purchase ended; that he looked is on record', async () => {
  const world = await openWorld({ airline: 'scripted' });
  try {
    const keys = createOperatorKeys({ ...world, ids: randomIds(world.clock.now) });
    const { key } = await keys.issue({ keyId: 'key_0', name: 'first' }, 'ana', 'req_1');
    const ask = <T>(path: string) =>
      world.call<T>(`/operator${path}`, undefined, { headers: { Authorization: `Bearer ${key}` } });
    const made = await world.intent('off_evidence');
    const visit = {
      page: goneAt('https://www.carrier.example/pay/Zqquillfeather?session=1') as never,
      recipe: recipeFor('https://www.carrier.example', { version: 7 }),
      personal: new Set(['Zqquillfeather']),
    };
    const exit = { subject: made.intent_id, outcome: 'captcha', step: '' };
    await keepEvidence(world, visit, exit);
    const shown = await ask<StuckEvidence>(`/stuck/${made.intent_id}/evidence`);
    expect(shown.body).toEqual({
      id: made.intent_id,
      evidence: [
        expect.objectContaining({
          ...{ outcome: 'captcha', carrier: 'T1', recipe_version: 7, screenshot: null },
          text: 'https://www.carrier.example/pay/█████\nThe page could not be read.',
        }),
      ],
    });
    const { body } = await ask<AuditTrail>('/audit');
    expect(body.entries[0]).toMatchObject({ action: 'evidence.show', subject: made.intent_id });

    // Of a search and of an offer, which no booking was made of.
    const looked = { ...exit, outcome: 'recipe_misfit', step: 'search 2' };
    await keepEvidence(world, visit, { ...looked, subject: 'VIE-LIS' });
    await keepEvidence(world, visit, { ...looked, subject: 'lowcost:X9-1' });
    for (const id of ['VIE-LIS', 'lowcost:X9-1', encodeURIComponent('lowcost:X9-1##2')]) {
      const found = await ask<StuckEvidence>(`/stuck/${id}/evidence`);
      expect(found.body.evidence).toEqual([expect.objectContaining({ step: 'search 2' })]);
    }
    expect((await ask('/stuck/VIE-LGW/evidence')).body).toMatchObject({ code: 'stuck_not_found' });

    // Of many visits the last are shown, in their order.
    for (const step of ['1', '2', '3', '4', '5', '6', '7', '8']) {
      world.clock.advance(1);
      await keepEvidence(world, visit, { ...looked, subject: 'VIE-OPO', step });
    }
    const last = (await ask<StuckEvidence>('/stuck/VIE-OPO/evidence')).body.evidence;
    expect(last.map(({ step }) => step)).toEqual(['3', '4', '5', '6', '7', '8']);

    // After a month nobody needs it any more.
    world.clock.advance(29 * DAY_MS);
    await prune(world);
    expect((await ask<StuckEvidence>(`/stuck/${made.intent_id}/evidence`)).body.evidence).toHaveLength(1);
    world.clock.advance(DAY_MS);
    await prune(world);
    expect(await world.store.selectFrom('browser_evidence').select('evidence_id').execute()).toEqual([]);
    expect((await ask(`/stuck/${made.intent_id}/evidence`)).status).toBe(404);
  } finally {
    await world.close();
  }
});
