// Words that the chat page and the console share.
export const page = {
  gate: {
    opening: ({ page }: { readonly page: string }) => `Opening ${page}…`,
    unreachable: 'The gateway does not answer',
    /** `{command}` stands as code. */
    retrying: 'Trying again… Is {command} running?',
    staleTitle: 'This link no longer works',
    stale: 'A link works once and for fifteen minutes. This one was already used, or it is too old.',
    opensByLink: ({ page }: { readonly page: string }) =>
      `${page.charAt(0).toUpperCase()}${page.slice(1)} opens with a one-time link.`,
    howToGet: 'Create a new one on the machine where Switchboard runs:',
  },
  /** An error of the API, when a one-time link is opened. */
  staleLink: {
    message: 'this link was already used or is too old',
    hint: ({ command }: { readonly command: string }) => `create a new one: ${command}`,
  },
  complete: {
    unchecked: 'cannot be checked',
    until: ({ time }: { readonly time: string | null }) => `complete until ${time ?? 'now'}`,
    behind: ({ time }: { readonly time: string | null }) =>
      time === null ? 'behind' : `behind since ${time}`,
  },
  time: {
    over: 'time is up',
    lastMinute: 'less than a minute left',
    minutesLeft: ({ minutes }: { readonly minutes: number }) => `${minutes} min left`,
    hoursLeft: ({ hours }: { readonly hours: number }) => `${hours} h left`,
    today: 'Today',
    yesterday: 'Yesterday',
  },
  http: {
    unreachable: 'the gateway cannot be reached',
    status: ({ status }: { readonly status: number }) => `the gateway answered ${status}`,
  },
  markdown: {
    done: 'done',
    toDo: 'to do',
    leadsTo: ({ host }: { readonly host: string }) => `(leads to ${host})`,
    copy: 'copy',
    copied: 'copied',
    code: ({ language }: { readonly language: string }) => (language === '' ? 'Code' : `Code, ${language}`),
  },
}
