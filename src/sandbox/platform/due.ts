/** When the platform's script has something to send next: kept in the service's database, so that asking is one read. */
export const PLATFORM_DUE = 'sandbox_platform_due_ms';
