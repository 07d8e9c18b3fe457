import { problem } from '../../kernel/problems.ts';
import { type Exit, keepEvidence } from './evidence.ts';
import { BrowserGone, Misfit, Stopped } from './page/outcomes.ts';
import { privateWords, redacted } from './page/redact.ts';
import type { Visit } from './page/visit.ts';
import type { Shop } from './ports.ts';

/** How visits end: on record, and in words that name nobody. */

interface Ending {
  readonly outcome: string;
  readonly step: string;
}

export function endingOf(error: unknown): Ending {
  if (error instanceof Stopped) {
    return {
      outcome: error.message,
      step: typeof error.reason === 'string' ? '' : error.reason.rejected.join(' '),
    };
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
  problem('provider_failed', {
    message: `The carrier's web site could not be used: ${step || 'no answer'}.`,
  });
