// The systemd user unit: notified when ready, watched, restarted when it fails, and with no more rights than it needs.

export interface ServicePlan {
  /** `switchboard`, or `switchboard-NAME` for another instance. */
  readonly name: string
  readonly description: string
  /** Program and arguments, absolute. */
  readonly command: readonly string[]
  readonly workingFolder: string
  readonly environment: Readonly<Record<string, string>>
  readonly logFile: string
}

export function systemdUnit({ description, command, workingFolder, environment }: ServicePlan): string {
  const variables = Object.entries(environment).map(
    ([name, value]) => `Environment=${word(`${name}=${value}`)}`,
  )
  return `# Written by \`switchboard service install\`, which writes it anew; changes of your own go into
# \`systemctl --user edit\`.
[Unit]
Description=${description.replaceAll('%', '%%')}
StartLimitIntervalSec=0

[Service]
Type=notify
# systemd-notify is a process of its own: what it says counts.
NotifyAccess=all
ExecStart=${command.map(word).join(' ')}
ExecReload=/bin/kill -HUP $MAINPID
WorkingDirectory=${path(workingFolder)}
Environment=SWITCHBOARD_UNIT=%n
${variables.join('\n')}
Restart=on-failure
RestartSec=2
# A first start opens every link; a stop reads open answers to their end (timeout of an http agent).
TimeoutStartSec=120
TimeoutStopSec=360
WatchdogSec=60
# Only the daemon is told to drain; what it started is ended by it, or with the unit.
KillMode=mixed

UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native

[Install]
WantedBy=default.target
`
}

/** One word of a command or of an assignment: specifiers and variables of systemd are none of it. */
function word(text: string): string {
  const plain = text.replaceAll('%', '%%').replaceAll('$', '$$$$')
  if (/^[A-Za-z0-9_@%+=:,./$-]+$/.test(plain)) return plain
  return `"${plain.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`
}

/** A path is not split into words, and not unquoted. */
function path(text: string): string {
  return text.replaceAll('%', '%%')
}
