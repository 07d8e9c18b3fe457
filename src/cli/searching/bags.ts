import type { Bags } from '../../kernel/domain/bags.ts';

export interface BagOptions {
  readonly bags?: number | undefined;
  readonly carryOn?: boolean | undefined;
}

/** Undefined if neither option is given. */
export const bagsIn = ({ bags, carryOn }: BagOptions): Bags | undefined =>
  bags === undefined && carryOn === undefined ? undefined : { checked: bags ?? 0, carry_on: carryOn ? 1 : 0 };

const wantsBags = (bags: Bags | undefined): bags is Bags => bags !== undefined && bags.checked + bags.carry_on > 0;

/** The field of a request; none without bags. */
export const askedBags = (bags: Bags | undefined): { bags?: Bags } => (wantsBags(bags) ? { bags } : {});

/** The options of a command to copy. */
export const bagFlags = (bags: Bags | undefined): string[] =>
  wantsBags(bags)
    ? [...(bags.checked > 0 ? ['--bags', String(bags.checked)] : []), ...(bags.carry_on > 0 ? ['--carry-on'] : [])]
    : [];
