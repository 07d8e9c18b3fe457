export { withProfile } from './settings.ts';
