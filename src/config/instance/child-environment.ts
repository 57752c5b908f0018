// The environment of every program that Switchboard starts: the paths of programs and homes, language, and time zone. It holds
// no secret of the daemon. A program that needs a secret has it listed in the configuration.

const HANDED_ON =
  process.platform === 'win32'
    ? /^(APPDATA|COMSPEC|HOMEDRIVE|HOMEPATH|LOCALAPPDATA|PATH|PATHEXT|PROGRAMDATA|PROGRAMFILES|SYSTEMDRIVE|SYSTEMROOT|TEMP|TMP|USERNAME|USERPROFILE|WINDIR)$/i
    : /^(PATH|HOME|USER|LOGNAME|SHELL|TERM|TMPDIR|TZ|LANG|LANGUAGE|LC_[A-Z]+|XDG_(CACHE|CONFIG|DATA|STATE|RUNTIME)_(HOME|DIR))$/

/** Only the variables that a program needs to run. Values that hold a shell function are left out. */
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
