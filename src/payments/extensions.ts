const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** `payment-identifier`: a payment's name, chosen by its client. */
const PAYMENT_IDENTIFIER = {
  info: { required: false },
  schema: {
    $schema: DIALECT,
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' },
    },
    required: ['required'],
  },
};

/** x402's extensions, as a 402 declares them. */
export const declared = () => ({ 'payment-identifier': PAYMENT_IDENTIFIER });
