import type { NotedIntent } from '../../../client/journal/index.ts';
import { isProblem } from '../../../kernel/problems.ts';
import type { Intent } from '../../../wire/flights/index.ts';
import { noteIntent } from '../../session/index.ts';
import type { CommandContext } from '../../spec/index.ts';

export const loadCreate = () => import('./create.ts');
export const loadVerify = () => import('./verify.ts');

/** Asks the service for intents of this home, and notes each; skips those that the service has forgotten. */
export async function* intentsNow(
  { session, signal }: CommandContext,
  noted: readonly NotedIntent[],
): AsyncGenerator<readonly [NotedIntent, Intent]> {
  const [store, flights] = [await session.store(), await session.flights()];
  for (const one of noted) {
    try {
      const intent = await flights.intent(one.intentId, { signal });
      await noteIntent(store, intent);
      yield [one, intent];
    } catch (error) {
      if (!isProblem(error, 'intent_not_found')) throw error;
    }
  }
}
