/** Connect's codes, which the partner service answers with beside our own reason (CONTRACT, section 10). */
interface ConnectCodeKind {
  readonly status: number;
  readonly exit: 1 | 2 | 3 | 4 | 5 | 7;
  readonly message: string;
  readonly fix: string;
  readonly retryable?: true;
}

export const CONNECT_CODE_TABLE: Readonly<Record<string, ConnectCodeKind>> = {
  canceled: {
    status: 499,
    exit: 7,
    message: 'The call was ended by its caller.',
    fix: 'Send it again, with the same Idempotency-Key.',
    retryable: true,
  },
  unknown: {
    status: 500,
    exit: 1,
    message: 'The partner service failed, and does not say how.',
    fix: 'Try again; quote the request id if it stays.',
    retryable: true,
  },
  invalid_argument: {
    status: 400,
    exit: 2,
    message: 'The request has fields that are not valid.',
    fix: 'Correct what detail.issues names.',
  },
  deadline_exceeded: {
    status: 504,
    exit: 7,
    message: 'The answer took longer than the caller waits.',
    fix: 'Send it again, with the same Idempotency-Key.',
    retryable: true,
  },
  not_found: {
    status: 404,
    exit: 3,
    message: 'Not found, or not visible to this key.',
    fix: 'Check the id; detail.reason says what is missing.',
  },
  already_exists: { status: 409, exit: 5, message: 'It is there already.', fix: 'Read it again before you decide.' },
  permission_denied: {
    status: 403,
    exit: 4,
    message: 'This key or token may not do that.',
    fix: 'Use one that may; detail.reason says why.',
  },
  resource_exhausted: {
    status: 429,
    exit: 7,
    message: 'Too many calls, or a body that is too large.',
    fix: 'Wait as long as Retry-After says, or send less.',
    retryable: true,
  },
  failed_precondition: {
    status: 400,
    exit: 5,
    message: 'It cannot be done in this state of things.',
    fix: 'Read detail.reason, meet what it names, and send it again.',
  },
  aborted: {
    status: 409,
    exit: 5,
    message: 'It does not fit the state of things, which may have changed meanwhile.',
    fix: 'Read it again before you decide; detail.reason says why.',
  },
  out_of_range: {
    status: 400,
    exit: 2,
    message: 'A value lies outside of what is taken.',
    fix: 'Correct what detail.issues names.',
  },
  unimplemented: {
    status: 501,
    exit: 2,
    message: 'Unknown operation, or not with this method or form of body.',
    fix: 'Look the path up in /partner/openapi.json; send JSON with POST.',
  },
  internal: {
    status: 500,
    exit: 1,
    message: 'Something failed on the side of the service.',
    fix: 'Try again; quote the request id if it stays.',
    retryable: true,
  },
  unavailable: {
    status: 503,
    exit: 7,
    message: 'The partner service, or a partner behind it, is not there at the moment.',
    fix: 'Try again with the same Idempotency-Key.',
    retryable: true,
  },
  data_loss: {
    status: 500,
    exit: 1,
    message: 'The service has lost data that it needs.',
    fix: 'Quote the request id to the operator of the service.',
  },
  unauthenticated: {
    status: 401,
    exit: 4,
    message: 'The API key or the token of the customer is missing or not valid.',
    fix: 'Send a key of this environment that was not revoked, and a fresh token.',
  },
};
