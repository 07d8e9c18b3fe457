import { DEPOSIT_FIELDS, DEPOSIT_SYNONYMS, RETURN_FIELDS } from '../../kernel/domain/order-moves.ts';
import { nearest } from '../../kernel/nearest.ts';

/** The fields of UpdateOrder that a row can give, and the names that a file may call them by. */

const PLAIN_FIELDS = [
  'orderId',
  'status',
  'sourceTransactionId',
  'destinationTransactionId',
  'reason',
  'customerFacingReason',
  'toAmount',
] as const;

/** The groups of fields; of deposit instructions with their synonyms. */
export const GROUPS = {
  depositInstructions: [...DEPOSIT_FIELDS, ...Object.keys(DEPOSIT_SYNONYMS)],
  returnDetails: RETURN_FIELDS,
} as const;

/** Where a value goes: `orderId`, `returnDetails.reason`, … */
export type FieldPath = string;

const FIELD_PATHS: readonly FieldPath[] = [
  ...PLAIN_FIELDS,
  ...Object.entries(GROUPS).flatMap(([group, fields]) => fields.map((field) => `${group}.${field}`)),
];

const squashed = (name: string): string => name.toLowerCase().replace(/[\s._-]/g, '');
const BY_NAME: ReadonlyMap<string, FieldPath> = new Map(FIELD_PATHS.map((path) => [squashed(path), path]));

/** The field that a name stands for, in camelCase, snake_case or kebab-case; null for one that is not known. */
export const fieldNamed = (name: string): FieldPath | null => BY_NAME.get(squashed(name)) ?? null;

const GROUP_NAMES = new Map(Object.keys(GROUPS).map((name) => [squashed(name), name]));

/** `depositInstructions` or `returnDetails`, by any of their names. */
export const groupNamed = (name: string): string | null => GROUP_NAMES.get(squashed(name)) ?? null;

/** Fields that a name may be a mistake for, whichever way they are written; of a group also without the group. */
export function fieldsNear(name: string): FieldPath[] {
  const forms = new Map(
    FIELD_PATHS.flatMap(
      (path) =>
        [
          [squashed(path), path],
          [leafOf(path), path],
        ] as const,
    ),
  );
  if (OTHER_IDS.test(squashed(name))) return ['orderId'];
  return [...new Set(nearest(squashed(name), [...forms.keys()]).flatMap((form) => forms.get(form) ?? []))];
}

/** Names that other systems give the id of an order. */
const OTHER_IDS = /^(ramp)?(id|order|order(no|nr|number|ref|reference|uuid))$/;

const leafOf = (path: FieldPath): string => squashed(path.split('.').at(-1) ?? path);
