import type { FlightsPorts } from '../ports.ts';
import type { RefundRequestRow } from '../rows.ts';

/** Where the words about a refund request are sealed: value and place belong together. */
export const reasonPlace = (requestId: string): string => `refund_requests.reason_sealed.${requestId}`;
export const contactPlace = (requestId: string): string => `refund_requests.contact_sealed.${requestId}`;
export const decisionPlace = (requestId: string): string => `refund_requests.decision_sealed.${requestId}`;
export const notePlace = (noteId: string): string => `refund_notes.text_sealed.${noteId}`;

/**
 * Why a request was rejected, in the words that its mail has; null when it was not, or once they are purged. The note
 * of an approval is for the record alone.
 */
export function rejectionReason(
  secrets: FlightsPorts['secrets'],
  row: RefundRequestRow | undefined,
): string | null {
  if (row?.state !== 'rejected' || !row.decision_sealed) return null;
  return secrets.decrypt(decisionPlace(row.request_id), row.decision_sealed);
}
