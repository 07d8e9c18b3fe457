import { readConfirmed } from './buy.ts';
import { click, isSeen, runSteps, until, type Visit, walkOf } from './page/index.ts';
import type { Confirmed, Contact, PurchaseRow } from './purchases.ts';
import { missingIn, type Recipe, type Step, type Values } from './recipes/index.ts';
import { contactValues } from './to-till.ts';

export const manageValues = (row: PurchaseRow, contact: Contact, mailAddress: string | null): Values => ({
  reference: row.reference,
  booking_reference: row.booking_reference ?? undefined,
  ...contactValues(contact, mailAddress),
});

const textsOf = (steps: readonly Step[]): string[] =>
  steps.flatMap((step) => {
    if (step.do === 'when') return [...textsOf(step.steps), ...textsOf(step.otherwise ?? [])];
    return Object.values(step).filter((value): value is string => typeof value === 'string');
  });

/** True if we know all that the site asks for; the booking reference may be missing. */
export const canManage = ({ manage }: Recipe, values: Values): boolean =>
  manage !== undefined &&
  textsOf(manage.steps).every((text) => missingIn(text, values).every((name) => name.startsWith('account.')));

/** Opens a booking's page. `none`: there is no such booking, or not yet. @throws Misfit, Stopped, BrowserGone */
async function opened(visit: Visit, manage: NonNullable<Recipe['manage']>, values: Values) {
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
  return { walk, kind, confirmed: kind === 'confirmed' ? await readConfirmed(walk, manage.read) : null };
}

export async function lookAtBooking(visit: Visit, values: Values): Promise<Confirmed | null> {
  const { manage } = visit.recipe;
  return manage ? (await opened(visit, manage, values)).confirmed : null;
}

/** Cancels a booking unless it is cancelled already. @returns true if the site now shows it as cancelled */
export async function cancelBooking(visit: Visit, values: Values): Promise<boolean> {
  const { manage } = visit.recipe;
  if (!manage?.cancel) return false;
  const { cancel } = manage;
  const { walk, kind } = await opened(visit, manage, values);
  if (kind !== 'confirmed') return kind === 'cancelled';
  if (cancel.offered && !(await isSeen(walk, cancel.offered))) return false;
  await runSteps(walk, cancel.steps, [], 'manage cancel');
  await click(walk, { at: cancel.press }, 'manage cancel (press)');
  return until(walk, 'manage cancel (done)', 30_000, async () =>
    (await isSeen(walk, cancel.done)) ? { found: true } : { saw: 'nothing that says so' },
  );
}
