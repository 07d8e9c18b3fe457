import { randomBytes } from 'node:crypto';
import { DAY_MS, instant } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import type { PageEvidence } from '../../wire/flights/index.ts';
import { BrowserGone, Misfit, privateWords, redacted, Stopped, showRedacted, type Visit } from './page/index.ts';
import type { Shop } from './ports.ts';

/** Records how visits ended, for the operator, with personal data redacted. */

type Ports = Pick<Shop, 'store' | 'secrets' | 'clock'>;

/** `subject`: a purchase's reference, an offer's id, or a route such as `LIS-BER`. */
type Exit = ReturnType<typeof endingOf> & { readonly subject: string };

export function endingOf(error: unknown): { readonly outcome: string; readonly step: string } {
  if (error instanceof Stopped) {
    return {
      outcome: error.message,
      step: typeof error.reason === 'string' ? error.words : error.reason.rejected.join(' '),
    };
  }
  if (error instanceof Misfit) return { outcome: 'recipe_misfit', step: error.message };
  if (error instanceof BrowserGone) return { outcome: 'browser_gone', step: error.message };
  return { outcome: 'failed', step: nameOf(error) };
}

export const nameOf = (error: unknown): string => (error instanceof Error ? error.name : 'unknown');

/**
 * Logs a visit's end and keeps evidence, both redacted, as they may quote the page. Failed writes change no outcome.
 * @returns the step, redacted
 */
export async function noteExit(shop: Shop, visit: Visit, { subject, ...exit }: Exit): Promise<string> {
  const { carrier, version } = visit.recipe;
  const words = privateWords(visit.personal);
  const outcome = redacted(exit.outcome, words);
  const step = redacted(exit.step, words);
  shop.log(outcome === 'booked' ? 'info' : 'warn', 'browser_visit_ended', {
    carrier: carrier.code,
    recipe_version: version,
    subject,
    outcome,
    step,
    hosts_refused: redacted([...visit.refused].slice(0, 5).join(' '), words),
    asked: redacted(visit.asked.join(' | '), words),
  });
  try {
    await keepEvidence(shop, visit, { subject, outcome, step });
  } catch (error) {
    shop.log('error', 'browser_evidence_lost', { subject, error_name: nameOf(error) });
  }
  return step;
}

export const siteFailed = (step: string) =>
  problem('provider_failed', { message: `The carrier's web site could not be used: ${step || 'no answer'}.` });

const KEPT_MS = 30 * DAY_MS;

const place = (id: string, part: 'text' | 'screenshot'): string => `browser_evidence.${part} ${id}`;

/** Saves a page's text and screenshot; the page is unusable afterwards. */
export async function keepEvidence(
  { store, secrets, clock }: Ports,
  { page, recipe, personal, asked = [] }: Pick<Visit, 'page' | 'recipe' | 'personal'> & Partial<Pick<Visit, 'asked'>>,
  exit: Exit,
): Promise<void> {
  const { screenshot, text: shown } = await showRedacted(page, personal, [recipe.site.frame ?? []].flat());
  const questions = asked.map((one) => `The page asked: ${redacted(one, privateWords(personal))}`);
  const text = [...questions, shown].join('\n');
  const id = randomBytes(12).toString('hex');
  const nowMs = clock.now();
  await store
    .insertInto('browser_evidence')
    .values({
      evidence_id: id,
      at_ms: nowMs,
      ...exit,
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
