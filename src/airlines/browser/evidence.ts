import { randomBytes } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import { DAY_MS, instant } from '../../kernel/clock.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import type { PageEvidence } from '../../wire/flights/index.ts';
import { showRedacted } from './page/redact.ts';
import type { Visit } from './page/visit.ts';
import type { Store } from './tables.ts';

/** How the page stood where a visit ended: for the person who has to find out what happened there. */

const KEPT_MS = 30 * DAY_MS;

interface Ports {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly clock: Clock;
}

/** What was seen, where, and what came of it. */
export interface Exit {
  /** A purchase's reference, or an offer's id. */
  readonly subject: string;
  readonly outcome: string;
  readonly step: string;
}

const place = (id: string, part: 'text' | 'screenshot'): string => `browser_evidence.${part} ${id}`;

/** Writes down how a page stands. The visit can't go on after it. */
export async function keepEvidence(
  { store, secrets, clock }: Ports,
  { page, recipe, personal }: Pick<Visit, 'page' | 'recipe' | 'personal'>,
  { subject, outcome, step }: Exit,
): Promise<void> {
  const { screenshot, text } = await showRedacted(page, personal);
  const id = randomBytes(12).toString('hex');
  const nowMs = clock.now();
  await store
    .insertInto('browser_evidence')
    .values({
      evidence_id: id,
      subject,
      at_ms: nowMs,
      outcome,
      step,
      carrier: recipe.carrier.code,
      recipe_version: recipe.version,
      text_sealed: secrets.seal(place(id, 'text'), Buffer.from(text)),
      screenshot_sealed: screenshot && secrets.seal(place(id, 'screenshot'), screenshot),
      expires_at_ms: nowMs + KEPT_MS,
    })
    .execute();
}

const MOST_SHOWN = 6;

/** What was kept last about a purchase or an offer, oldest first. */
export async function evidenceOf(
  { store, secrets, clock }: Ports,
  subjects: readonly string[],
): Promise<PageEvidence[]> {
  const rows = await store
    .selectFrom('browser_evidence')
    .selectAll()
    .where('subject', 'in', subjects)
    .where('expires_at_ms', '>', clock.now())
    .orderBy('at_ms', 'desc')
    .limit(MOST_SHOWN)
    .execute();
  return rows.reverse().map((row) => ({
    evidence_id: row.evidence_id,
    at: instant(row.at_ms),
    outcome: row.outcome,
    step: row.step,
    carrier: row.carrier,
    recipe_version: row.recipe_version,
    text: secrets.unseal(place(row.evidence_id, 'text'), row.text_sealed).toString('utf8'),
    screenshot:
      row.screenshot_sealed &&
      secrets.unseal(place(row.evidence_id, 'screenshot'), row.screenshot_sealed).toString('base64'),
  }));
}
