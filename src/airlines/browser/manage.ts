import { readConfirmed } from './buy.ts';
import { click, isSeen, runSteps, until, type Visit, type Walk, walkOf } from './page/index.ts';
import type { Confirmed, Contact, PurchaseRow } from './purchases.ts';
import { missingIn, namesIn, type Recipe, type Step, type Values } from './recipes/index.ts';

/** The page of a booking that is there: what it says, and giving the booking back. */

export function manageValues(row: PurchaseRow, contact: Contact, mailAddress: string | null): Values {
  return {
    reference: row.reference,
    booking_reference: row.booking_reference ?? undefined,
    'contact.email': mailAddress ?? contact.email,
    'contact.phone_number': contact.phone_number,
    'contact.given_name': contact.given_name,
    'contact.family_name': contact.family_name,
  };
}

const textsOf = (steps: readonly Step[]): string[] =>
  steps.flatMap((step) => {
    if (step.do === 'when') return [...textsOf(step.steps), ...textsOf(step.otherwise ?? [])];
    return Object.values(step).filter((value): value is string => typeof value === 'string');
  });

/** True where everything is known that the site asks for: most ask for the reference that a confirmation brings. */
export const canManage = ({ manage }: Recipe, values: Values): boolean =>
  manage !== undefined &&
  textsOf(manage.steps).every((text) => namesIn(text).length === 0 || missingIn(text, values).length === 0);

type Seen =
  | { readonly kind: 'confirmed'; readonly confirmed: Confirmed }
  | { readonly kind: 'cancelled' }
  /** It shows no such booking: that may only mean that it is too early. */
  | { readonly kind: 'none' };

/** @throws Misfit, Stopped, BrowserGone */
async function opened(visit: Visit, values: Values): Promise<{ seen: Seen; walk: Walk } | null> {
  const { manage } = visit.recipe;
  if (!manage) return null;
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && name.startsWith('contact.')) visit.personal.add(value);
  }
  const walk = walkOf(visit, 'manage', values);
  await runSteps(walk, manage.steps);
  const kind = await until(walk, 'manage (seen)', undefined, async () => {
    if (manage.cancelled && (await isSeen(walk, manage.cancelled))) return { found: 'cancelled' as const };
    if (await isSeen(walk, manage.seen)) return { found: 'confirmed' as const };
    if (manage.none && (await isSeen(walk, manage.none))) return { found: 'none' as const };
    return { saw: 'no booking' };
  });
  if (kind !== 'confirmed') return { seen: { kind }, walk };
  return { seen: { kind, confirmed: await readConfirmed(walk, manage.read) }, walk };
}

export const lookAtBooking = async (visit: Visit, values: Values): Promise<Seen> =>
  (await opened(visit, values))?.seen ?? { kind: 'none' };

/**
 * Gives a booking back, unless it is cancelled already.
 * @returns whether it is cancelled now, as the site says
 */
export async function cancelBooking(visit: Visit, values: Values): Promise<boolean> {
  const cancel = visit.recipe.manage?.cancel;
  const open = await opened(visit, values);
  if (!open || !cancel) return false;
  if (open.seen.kind !== 'confirmed') return open.seen.kind === 'cancelled';
  const { walk } = open;
  if (cancel.offered && !(await isSeen(walk, cancel.offered))) return false;
  await runSteps(walk, cancel.steps, [], 'manage cancel');
  await click(walk, { at: cancel.press }, 'manage cancel (press)');
  return until(walk, 'manage cancel (done)', 30_000, async () =>
    (await isSeen(walk, cancel.done)) ? { found: true } : { saw: 'nothing that says so' },
  );
}
