/** Sellers of seats that an operator can choose. */
export const PROVIDERS = ['sandbox', 'duffel'] as const;
