import { counted, fieldLines, type Screen } from '../../../terminal/index.ts';
import type { KnownFare } from '../../session/index.ts';
import { cabinText, conditionText, sliceLines } from './offer.ts';

/** A fare before it is chosen: its flights, its bags and its rules. */
export const fareDetailLines = (fare: KnownFare, screen: Screen): string[] => [
  ...fare.slices.flatMap((slice) => sliceLines(slice, screen)),
  ...fieldLines(fareFields(fare), screen.paint.dim, screen.width),
];

export const fareFields = (fare: KnownFare): readonly (readonly [string, string])[] => [
  ['Fare', `${fare.fare_brand_name ?? '–'}, ${cabinText(fare)}, sold by ${fare.owner_name}`],
  ['Bags', `${bagsText(fare.checked_bags_included, 'checked')}, ${bagsText(fare.carry_on_bags_included, 'cabin')}`],
  ['Refund', conditionText(fare.conditions, 'refund')],
  ['Change', conditionText(fare.conditions, 'change')],
];

const bagsText = (count: number | null, kind: string): string =>
  count === null ? `${kind} bags not disclosed` : counted(count, `${kind} bag`);
