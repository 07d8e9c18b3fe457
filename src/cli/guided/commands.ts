import { quoted } from '../view/payment.ts';
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

export const lockCommand = (offerId: string): string => `farelock intent create ${quoted(offerId)}`;

/** With the names that travellers were saved under; whoever is not saved stands in a file. */
export function bookingCommand(intentId: string, party: Party | null): string {
  const names = party?.travellers ?? [];
  const given =
    names.length > 0 && names.every((name) => name !== null)
      ? names.map((name) => `--traveller ${quoted(name)}`).join(' ')
      : '--passengers passengers.json';
  return `farelock book ${quoted(intentId)} ${given}`;
}
