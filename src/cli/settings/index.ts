export * from './cluster.ts';
export { isProfileName, OUTSIDE, type SettingValues, type UserSettings } from './file.ts';
export * from './globals.ts';
export {
  isSettingName,
  kindOf,
  NotASetting,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  webAddress,
} from './keys-table.ts';
export * from './profile.ts';
export * from './resolve.ts';
export * from './secret-variable.ts';
export { changeUserSettings } from './write.ts';

export const loadKeysTable = () => import('./keys-table.ts');
export const loadProfileFrom = () => import('./profile-from.ts');
export const loadProfile = () => import('./profile.ts');
export const loadResolve = () => import('./resolve.ts');
export const loadWrite = () => import('./write.ts');
