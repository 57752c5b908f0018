// What the tests look at of the script.
export function changedFiles(
  root: string,
  flag: string,
): { readonly since: string; readonly changed: readonly string[]; readonly reached: readonly string[] }
