// What the commands that run, stop, save and show the daemon print.
import type { Mark } from '../mark.ts'

export interface Process {
  readonly pid: number
}
export interface File {
  readonly file: string
}
export interface Wait {
  readonly seconds: number
}

export const daemonCommands = {
  up: {
    unknownLogLevel: 'SWITCHBOARD_LOG is none of debug, info, warn, error, silent: it is ignored',
    stopping: 'stopping; once more to stop at once',
    isUp: ({ url, mark }: { readonly url: string; readonly mark: Mark }) =>
      `Switchboard is up at ${mark(url)}`,
    labels: {
      chat: 'chat',
      listen: 'listen',
      say: 'say',
      config: 'config',
      data: 'data',
      port: 'port',
      stop: 'stop',
    },
    embedded: 'the embedded default (write your own with: switchboard init)',
    portTaken: ({ port }: { readonly port: number }) => `${port} is taken by another process`,
    more: ({ count }: { readonly count: number }) => `and ${count} more: switchboard status`,
  },
  stop: {
    none: ({ folder }: { readonly folder: string }) => `no daemon holds the data folder ${folder}`,
    stopped: ({ pid }: Process) => `stopped (process ${pid}); it stays so until: switchboard up`,
    ended: ({ pid }: Process) =>
      `ended (process ${pid}), but not because it was stopped: a session that needs it may start it again; see: switchboard logs`,
    beforeRestart: ({ pid }: Process) => `stopped (process ${pid})`,
    told: ({ pid, seconds }: Process & Wait) =>
      `the daemon (process ${pid}) is told to stop; waiting at most ${seconds} s`,
    toldUnready: ({ pid, seconds }: Process & Wait) =>
      `the daemon (process ${pid}) is not ready yet: it is told to stop; waiting at most ${seconds} s`,
    held: ({ folder, seconds }: Wait & { readonly folder: string }) =>
      `${folder} is held by a daemon that stops, or by a command: waiting at most ${seconds} s`,
  },
  reloaded: ({ digest }: { readonly digest: string }) => `reloaded, digest ${digest}`,
  backup: {
    holds: ({ entries, files, bytes }: Readonly<Record<'entries' | 'files' | 'bytes', number>>) =>
      `${entries} ledger entries, ${files} files, ${bytes} bytes`,
    keysIncluded: 'included: keep it like a password',
    keysLeftOut: 'not included (--with-keys): secrets in it stay closed',
    ledgerKeyElsewhere: 'ledger.key: it comes from your environment, keep it beside',
  },
  restore: {
    chain: ({ entries }: { readonly entries: number }) => `intact, ${entries} entries`,
    sends: ({ count }: { readonly count: number }) => `${count} that were open are unknown now`,
    look: 'switchboard outbox --state unknown (they may have been sent since), switchboard access and token (what was revoked since is valid again)',
  },
  link: {
    elsewhere: ({ url }: { readonly url: string }) => `on another device: ${url}`,
    oneUse: ({ expires }: { readonly expires: string | null }) =>
      `good for one use${expires === null ? '' : `, expires ${expires}`}`,
    elsewhereWarning: ({ why }: { readonly why: string }) => `for another device: ${why}`,
  },
  console: {
    noRole: 'no role',
    signsIn: ({ user, roles, expires }: Readonly<Record<'user' | 'roles' | 'expires', string>>) =>
      `signs in ${user} (${roles}); good for one use, expires ${expires}`,
  },
  service: {
    wrote: ({ file, mark }: File & { readonly mark: Mark }) => `${mark('wrote')} ${file}`,
    startWith: ({ commands }: { readonly commands: string }) => `start it with: ${commands}`,
    atLogin: 'it starts at login',
    logs: ({ name }: { readonly name: string }) => `logs: journalctl --user -u ${name}`,
    linger: 'so that it runs while you are not logged in: loginctl enable-linger',
    removed: ({ file }: File) => `removed ${file}; the data folder stays`,
    absent: ({ file }: File) => `there is no ${file}`,
    service: ({ state, file }: { readonly state: string; readonly file: string | null }) =>
      `service  ${state}${file === null ? '' : ` (${file})`}`,
    noDaemon: 'daemon   not running',
    daemon: ({ pid, asService }: Process & { readonly asService: boolean }) =>
      `daemon   process ${pid}${asService ? '' : ', not started by the service'}`,
    stale: 'the file is not what this version would write: switchboard service install',
    install: 'install it with: switchboard service install',
    environment: ({ references, file }: File & { readonly references: string }) =>
      `${references} of ${file} will be empty for a service: keep them with \`switchboard secrets set\` and write secret:NAME`,
  },
  notRecorded: ({ why }: { readonly why: string }) =>
    `not recorded, so that hosts cannot start a daemon for it by themselves: ${why}`,
}
