import { problem } from '../../../kernel/problems.ts';
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

export function endingOf(error: unknown, { personal }: Pick<Visit, 'personal'>): Ending {
  if (error instanceof Stopped) {
    return {
      outcome: error.message,
      step: typeof error.reason === 'string' ? '' : error.reason.rejected.join(' '),
    };
  }
  if (error instanceof Misfit) {
    return { outcome: 'recipe_misfit', step: redacted(error.message, privateWords(personal)) };
  }
  if (error instanceof BrowserGone) return { outcome: 'browser_gone', step: error.message };
  return { outcome: 'failed', step: error instanceof Error ? error.name : 'unknown' };
}

/** Writes down how a visit ended. That the writing fails changes nothing of what came of it. */
export async function noteExit(shop: Shop, visit: Visit, exit: Exit): Promise<void> {
  const { carrier, version } = visit.recipe;
  shop.log(exit.outcome === 'booked' ? 'info' : 'warn', 'browser_visit_ended', {
    carrier: carrier.code,
    recipe_version: version,
    subject: exit.subject,
    outcome: exit.outcome,
    step: exit.step,
    hosts_refused: [...visit.refused].slice(0, 5).join(' '),
  });
  try {
    await keepEvidence(shop, visit, exit);
  } catch (error) {
    shop.log('error', 'browser_evidence_lost', {
      subject: exit.subject,
      error_name: error instanceof Error ? error.name : 'unknown',
    });
  }
}

/** No usable answer of a site, in our own words. */
export const siteFailed = (step: string) =>
  problem('provider_failed', {
    message: `The carrier's web site could not be used: ${step || 'no answer'}.`,
  });
