/** The time of the platform's next update, kept in the service's database for a single read. */
export const PLATFORM_DUE = 'sandbox_platform_due_ms';
