import type { TravellerFields } from '../../client/journal/travellers.ts';
import type { Paint } from '../../terminal/paint.ts';
import { fieldLines, tableLines } from '../../terminal/table.ts';
import type { Screen, View } from '../../terminal/terminal.ts';
import { utcTime } from '../../terminal/times.ts';
import type { TravellerState } from '../travellers/travellers.ts';

/** A saved traveller without anything personal beyond the name that was chosen for it. */
export interface ListedTraveller extends TravellerState {
  readonly name: string;
  readonly saved_at: string;
}

const passportText = ({ passport, missing }: TravellerState, paint: Paint): string => {
  if (passport === 'valid') return 'valid';
  if (passport === 'expired') return paint.warn('expired');
  return missing.length < 3 ? paint.warn(`lacks ${missing.map(words).join(', ')}`) : paint.dim('none');
};

const words = (field: string): string => field.replaceAll('_', ' ');

export const travellersView: View<{ travellers: readonly ListedTraveller[] }> = {
  list: 'travellers',
  lines: ({ travellers }, { paint, width }) =>
    travellers.length === 0
      ? ['No saved travellers.']
      : tableLines(
          [{ title: 'Traveller', cuts: true }, { title: 'Passport' }, { title: 'Saved' }],
          travellers.map((one) => [one.name, passportText(one, paint), utcTime(one.saved_at)]),
          paint.dim,
          width,
        ),
  rows: ({ travellers }) =>
    travellers.map(({ name, passport, missing, saved_at }) => [name, passport, missing.join(','), saved_at]),
};

export const savedLines = (
  { name, replaced, ...state }: ListedTraveller & { replaced: boolean },
  { paint }: Screen,
): string[] => [
  `${paint.good('✓')} ${replaced ? 'Replaced' : 'Saved'} the traveller ${paint.bold(name)}, encrypted in this home`,
  ...(state.passport === 'none'
    ? [paint.dim('  The passport is missing or incomplete: low-cost flights need one.')]
    : []),
];

export const travellerLines = (
  { name, fields, ...state }: ListedTraveller & { fields: TravellerFields },
  { paint }: Screen,
): string[] => [
  paint.bold(name),
  ...fieldLines(
    [
      ['Name', `${fields.title ?? ''} ${fields.given_name ?? ''} ${fields.family_name ?? ''}`.trim()],
      ['Date of birth', fields.born_on],
      ['Gender', fields.gender],
      ['E-mail', fields.email],
      ['Phone', fields.phone_number],
      ['Nationality', fields.nationality],
      ['Passport', fields.passport_number],
      ['Valid until', fields.passport_expiry],
      ['Passport status', state.passport === 'valid' ? undefined : passportText(state, paint)],
      ['Saved', utcTime(state.saved_at)],
    ],
    paint.dim,
  ),
];
