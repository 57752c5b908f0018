// The environment that every program started by Switchboard gets, whatever else is in ours: where programs and homes
// are, language and time zone. Secrets of the daemon are not among them; a program that needs one has it listed.

const HANDED_ON =
  process.platform === 'win32'
    ? /^(APPDATA|COMSPEC|HOMEDRIVE|HOMEPATH|LOCALAPPDATA|PATH|PATHEXT|PROGRAMDATA|PROGRAMFILES|SYSTEMDRIVE|SYSTEMROOT|TEMP|TMP|USERNAME|USERPROFILE|WINDIR)$/i
    : /^(PATH|HOME|USER|LOGNAME|SHELL|TERM|TMPDIR|TZ|LANG|LANGUAGE|LC_[A-Z]+|XDG_(CACHE|CONFIG|DATA|STATE|RUNTIME)_(HOME|DIR))$/

/** Only what a program needs to run at all. A value that is a shell function in disguise is left out. */
export function childEnvironment(
  variables: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(variables).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && HANDED_ON.test(entry[0]) && !entry[1].startsWith('()'),
    ),
  )
}
