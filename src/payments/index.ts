export * from './operator-keys.ts';
export * from './operator-wallets.ts';
export { createPaywall } from './paywall.ts';
export { carriesPayment } from './protocols.ts';
export { type PaymentsTables, paymentsMigrations } from './tables.ts';
export * from './terms.ts';
