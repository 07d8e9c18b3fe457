export * from './mails.ts';
export type { Attachment, NotifySettings, PageMessage, Transports } from './message.ts';
export * from './outbox.ts';
export { type NotifyTables, notifyMigrations } from './tables.ts';

export const loadNotifyMails = () => import('./mails.ts');
export const loadOutbox = () => import('./outbox.ts');
export const loadSettings = () => import('./message.ts');
export const loadTransports = () => import('./transports.ts');
