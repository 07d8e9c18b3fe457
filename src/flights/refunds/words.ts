/** Where the words about a refund request are sealed: value and place belong together. */
export const reasonPlace = (requestId: string): string => `refund_requests.reason_sealed.${requestId}`;
export const contactPlace = (requestId: string): string => `refund_requests.contact_sealed.${requestId}`;
export const decisionPlace = (requestId: string): string => `refund_requests.decision_sealed.${requestId}`;
export const notePlace = (noteId: string): string => `refund_notes.text_sealed.${noteId}`;
