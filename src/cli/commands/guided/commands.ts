import { quoted } from '../../view/index.ts';
import type { Party, Trip } from './walk.ts';

/** The command lines that do the same as the steps. What is not known yet stands in angle brackets. */

/** A command that does the same as a step, with the options that it is told by. */
export interface SameCommand {
  readonly name: string;
  readonly line: string;
  readonly options?: object;
}

export function searchCommand({ from, to, depart, back, adults }: Trip): string {
  return [
    'farelock search',
    from?.iata ?? '<from>',
    to?.iata ?? '<to>',
    `--depart ${depart ?? '<date>'}`,
    ...(back === null ? [] : [`--return ${back}`]),
    ...(adults === 1 ? [] : [`--adults ${adults}`]),
  ].join(' ');
}

/** @param offer its id, or its number of the last list */
export const lockCommand = (offer: string): string => `farelock intent create ${quoted(offer)}`;

/** With the names that travellers were saved under; whoever is not saved stands in a file. */
export const bookingCommand = (intentId: string, party: Party | null): string =>
  `farelock book ${quoted(intentId)} ${savedTravellers(party) ?? '--passengers passengers.json'}`;

/** The same after a walk that was cut off: whoever is not saved is asked for, as no file was written. */
export const bookingCommandNow = (intentId: string, party: Party | null): string =>
  ['farelock book', quoted(intentId), savedTravellers(party) ?? []].flat().join(' ');

function savedTravellers(party: Party | null): string | null {
  const names = party?.travellers ?? [];
  const areSaved = names.length > 0 && names.every((name) => name !== null);
  return areSaved ? names.map((name) => `--traveller ${quoted(name)}`).join(' ') : null;
}
