import { randomBytes } from 'node:crypto';
import { type Clock, DAY_MS, instant } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import type { PageEvidence } from '../../wire/flights/index.ts';
import { BrowserGone, Misfit, privateWords, redacted, Stopped, showRedacted, type Visit } from './page/index.ts';
import type { Shop } from './ports.ts';
import type { Store } from './tables.ts';

/** Ends of visits: each is recorded, with personal data redacted. */

interface Ending {
  readonly outcome: string;
  readonly step: string;
}

export function endingOf(error: unknown): Ending {
  if (error instanceof Stopped) {
    return { outcome: error.message, step: typeof error.reason === 'string' ? '' : error.reason.rejected.join(' ') };
  }
  if (error instanceof Misfit) return { outcome: 'recipe_misfit', step: error.message };
  if (error instanceof BrowserGone) return { outcome: 'browser_gone', step: error.message };
  return { outcome: 'failed', step: error instanceof Error ? error.name : 'unknown' };
}

/**
 * Writes down how a visit ended, in the log and as evidence. A page puts its own words into them: they are written, and
 * passed on, without what is private. That the writing fails changes nothing of what came of the visit.
 * @returns the step as it may be shown
 */
export async function noteExit(shop: Shop, visit: Visit, exit: Exit): Promise<string> {
  const { carrier, version } = visit.recipe;
  const words = privateWords(visit.personal);
  const outcome = redacted(exit.outcome, words);
  const step = redacted(exit.step, words);
  shop.log(outcome === 'booked' ? 'info' : 'warn', 'browser_visit_ended', {
    carrier: carrier.code,
    recipe_version: version,
    subject: exit.subject,
    outcome,
    step,
    hosts_refused: redacted([...visit.refused].slice(0, 5).join(' '), words),
  });
  try {
    await keepEvidence(shop, visit, { subject: exit.subject, outcome, step });
  } catch (error) {
    shop.log('error', 'browser_evidence_lost', {
      subject: exit.subject,
      error_name: error instanceof Error ? error.name : 'unknown',
    });
  }
  return step;
}

/** No usable answer of a site, in our own words. */
export const siteFailed = (step: string) =>
  problem('provider_failed', { message: `The carrier's web site could not be used: ${step || 'no answer'}.` });

/** How the page stood where a visit ended: for the person who has to find out what happened there. */

const KEPT_MS = 30 * DAY_MS;

interface Ports {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly clock: Clock;
}

/** A page as a visit left it, and the visit's outcome. */
interface Exit {
  /** A purchase's reference, or an offer's id. */
  readonly subject: string;
  readonly outcome: string;
  readonly step: string;
}

const place = (id: string, part: 'text' | 'screenshot'): string => `browser_evidence.${part} ${id}`;

/** Saves a page's text and screenshot; the visit is over then. */
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

/** The latest evidence about a purchase or an offer, oldest first. */
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
  return rows
    .reverse()
    .map((row) => ({
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
