// What issue 18 promises of the way in and of the life after it: the serious list, the wizard, the life.
import { requirements } from './row.ts'

export const FIRST_RUN = requirements(
  '18 The first run',
  `
built   18 I18.link-pasted           A link pasted into an open /chat signs in, and its ticket leaves the address bar
built   18 I18.pack-whole            npm pack builds first: the tarball holds dist/ and its pages, and an installed one runs init, up, a message, channel and stop
built   18 I18.gitignore             init in a git repository keeps its secrets and the data folder out of it, and leaves what others wrote there
built   18 I18.secret-in-git         check warns of a secret file that git would take, and of one that it has
built   18 I18.template-secret       The templates that init writes refer to what a person gives as secret:NAME, never as env:NAME
built   18 I18.secret-prompt         integrations add and init take secrets by a prompt without echo and keep them encrypted
built   18 I18.secrets-at-once       secrets set takes effect at once: what waits for the secret starts, what uses it starts anew
built   18 I18.claude-absolute       init claude-code writes absolute node and script, run by npx too, and never a bare name
built   18 I18.claude-data           init claude-code carries --data where the folder was named
built   18 I18.claude-plugin-found   init claude-code finds the installed plugin and writes no second server
built   18 I18.plugin-alone          The plugin's server works without a global install, or says over MCP what to install
built   18 I18.plugin-unprepared     The plugin's server without a prepared configuration says what to run
built   18 I18.add-invalid-connector agents add of a connector that there is none of exits 2 and prints no lines
built   18 I18.planned-platform      integrations add --platform of what is not built exits 2
`,
)

export const WIZARD = requirements(
  '18 The wizard',
  `
built   18 I18.wizard-where          init asks where people talk: every platform that is built, several at once, from the modules themselves
built   18 I18.wizard-who            init asks who answers: every connector that is built, from the modules themselves
built   18 I18.wizard-hidden         The wizard takes each credential without echo: what the terminal shows never holds it
built   18 I18.wizard-tried          The wizard tries each credential live and says who it is; a wrong one is asked for again, and nothing is written
built   18 I18.wizard-link           The wizard prints the link to write to what was set up
built   18 I18.wizard-paste          The wizard prints what to paste elsewhere: Slack's app manifest, Telegram's BotFather lines, from the modules
built   18 I18.wizard-starts         The wizard starts the daemon, and it goes on when the wizard ends
built   18 I18.wizard-first-message  The wizard waits for the first message and shows its sender's name and id
built   18 I18.wizard-pairs          The wizard pairs the sender when the code is typed, and only then
built   18 I18.wizard-answer         The wizard shows the answer arrive
built   18 I18.wizard-flags          Every question of the wizard is also a flag
built   18 I18.wizard-yes            init --yes asks nothing
built   18 I18.wizard-again          init run again adds to the file that is there and leaves its comments and lines as they are
built   18 I18.wizard-ctrl-c         Ctrl-C in the wizard leaves nothing half-written
built   18 I18.wizard-lazy           The prompts are loaded when the wizard asks, and not before
built   18 I18.add-url               integrations add takes one line in Apprise's manner: tgram://, slack://, by schemes that the modules name
built   18 I18.add-url-mail          integrations add takes mailto://
built   18 I18.add-url-secret        integrations add URL asks for the secret without echo or reads it from standard input, and warns of one inside the URL
`,
)

export const LIFE = requirements(
  '18 The life',
  `
built   18 I18.detach                up --detach returns when the daemon is ready and leaves it running; one that cannot start is told with its reason
built   18 I18.stop                  stop ends the daemon of the folder, waits until it drained, and says when there is none
built   18 I18.restart               restart ends the daemon and starts it again in the background with its configuration
built   18 I18.logs                  logs prints what the daemon logged, for people or as JSON
built   18 I18.logs-follow           logs -f goes on with what is logged next
built   18 I18.logs-integration      logs --integration ID prints the lines of one integration
built   18 I18.logs-turn             logs --turn ID tells the way of one turn from the ledger and the log
built   18 I18.service-systemd       service install writes a hardened systemd user unit of Type=notify with a watchdog, which systemd-analyze verify takes
built   18 I18.service-notify        A daemon with a NOTIFY_SOCKET says READY, WATCHDOG while it lives, RELOADING and STOPPING
built   18 I18.service-launchd       service install on macOS writes a launchd plist that a parser reads
built   18 I18.service-status        service status and uninstall say what there is and take it away
built   18 I18.schedules-list        schedules list names each schedule, its next run and its last
built   18 I18.schedules-run         schedules run starts one now as a turn of its own
built   18 I18.schedules-seen        status and doctor show the schedules
built   18 I18.completion            completion prints a script for bash, zsh and fish made from the table of commands
built   18 I18.help-grouped          --help is grouped and fits 80 columns
built   18 I18.usage-line            A usage error comes with the usage line of its command
built   18 I18.chat-help             /help in a chat lists the commands that there are, and how they are written there
built   18 I18.doctor-numbered       doctor begins with numbered problems and the command that mends each
built   18 I18.doctor-verbose        What passes is shown by doctor --verbose alone
built   18 I18.banner                The banner names every integration with its state and how to reach it
built   18 I18.check-unset           check reports references that lead nowhere
built   18 I18.bare-yes              A bare yes goes to the agent, and an approver with one approval pending is told how to decide it
`,
)
