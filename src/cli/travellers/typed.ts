import type { TravellerFields } from '../../client/journal/travellers.ts';
import { harmless } from '../../terminal/text.ts';
import type { Intent } from '../../wire/flights/index.ts';
import type { CommandContext } from '../spec/command.ts';

/** The passengers that a person types for a lock: kept sealed until it ends, so that an interruption loses none. */
interface Typed {
  kept(): Promise<TravellerFields[]>;
  keep(passengers: readonly TravellerFields[]): Promise<void>;
}

export async function openTyped(
  { session, terminal }: Pick<CommandContext, 'session' | 'terminal'>,
  { intent_id: id, expires_at }: Pick<Intent, 'intent_id' | 'expires_at'>,
): Promise<Typed> {
  const store = await session.store();
  let isTold = false;
  return {
    kept: () => store.typed(id),
    async keep(passengers) {
      try {
        await store.keepTyped(id, passengers, Date.parse(expires_at));
      } catch (error) {
        // What is typed is worth more than its copy: a full disk stops nobody.
        if (!isTold)
          terminal.note(`Could not be saved here: ${error instanceof Error ? error.message : String(error)}`);
        isTold = true;
      }
    },
  };
}

/** `Ana Silva and Bo Li`; who has no name yet is left out. */
export function typedText(typed: readonly TravellerFields[]): string {
  const names = typed
    .map(({ given_name, family_name }) => harmless([given_name, family_name].filter(Boolean).join(' ')))
    .filter((name) => name !== '');
  return names.length === 0 ? 'the passengers' : names.join(' and ');
}
