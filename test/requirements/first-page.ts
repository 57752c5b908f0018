// What issue 18 promises of the chat page, the phone, the packages and the small things; the rest of it is in first-run.ts.
import { requirements } from './row.ts'

export const SMALL_THINGS = requirements(
  '18 Small things',
  `
built   18 I18.add-after-init        agents add --write after init takes the web chat over from the demo agent and says so; from any other agent it takes nothing and says whose it is
built   18 I18.add-own-lines         agents add --write puts the agent's lines behind the last agent's own, comments included, and every other byte stays
built   18 I18.add-kept              agents add --write finishes what a cut run began: a secret that nothing refers to is no obstacle
built   18 I18.access-default        access remove of whom the platform's default lets in names the default and the line to write, not a key that is not there
built   18 I18.token-twice           check tells of one token in two integrations, by reference or by value, and never prints it
built   18 I18.far-suggestion        An unknown option suggests another only where a slip of the keyboard explains it
built   18 I18.status-excerpt        status shows the excerpt of a broken configuration with its caret under the place
built   18 I18.time-ahead            What is good for 8 h reads "in 8h" when it was minted a moment ago
built   18 I18.chorus-private        An agent or a service of the chorus library that meets a private address says that allowPrivate opens it
built   18 I18.verify-private        chorus verify names --allow-private when an address is private, of agents and of services
built   18 I18.host-log              createChannelHost takes a log without child, console among them
built   18 I18.guide-snippets        Snippets of the guides run: TypeScript against the library, commands against the command line, YAML against the check
`,
)

export const CHAT_PAGE = requirements(
  '18 The chat page',
  `
built   18 I18.page-tables           Tables and task lists are shown as such, by the one Markdown reader
built   18 I18.page-code             Code that is wider than the page scrolls by keyboard and finger, with a cue at the edge where more is
built   18 I18.page-images           A person's image stands at the right edge, and the log follows pictures that load late
built   18 I18.page-quotes           A reply keeps the quote of what it answers, on the page and after a reload
built   18 I18.page-presence         The page shows the presence of the agent, not that of the gateway
built   18 I18.page-approvals        An approval card tells when it was asked and when it expires, says "You" of one's own verdict, and folds when decided
built   18 I18.page-states           A group of messages has one line of state, with a mark that explains itself
built   18 I18.page-axe              The page has landmarks, and axe finds nothing in light, dark and 390 px
built   18 I18.tap-keeps-command     After a tap on Telegram the prompt keeps the command and names the person
`,
)

export const PHONE = requirements(
  '18 Phone',
  `
built   18 I18.link-qr               "Link another device" shows a QR code, on the page and by switchboard link
built   18 I18.link-address          Its address is public_url, else the machine's on the LAN where the daemon listens there, and loopback never without a warning
built   18 I18.link-unreachable      Where another device cannot reach it, that is said with the way to change it
built   18 I18.proxy-recipes         The docs have a recipe for tailscale serve and for a reverse proxy
built   18 I18.installable           The page is installable: a manifest with icons of ours, under the page's policy
`,
)

export const PACKAGES = requirements(
  '18 Packages',
  `
built   18 I18.dockerfile            The Dockerfile has several stages, a user that is not root, a healthcheck and a volume
built   18 I18.dockerfile-ran        The Dockerfile's RUN lines were run in a bare root, and the daemon on a read-only one
built   18 I18.compose               compose.yaml has PostgreSQL and two nodes, and its configuration passes check
built   18 I18.marketplace           The plugin stands in a marketplace folder
built   18 I18.wish-telegram         Typing what the page "Telegram to Claude Code on my laptop" says leads to an answer
built   18 I18.wish-slack            Typing what the page "Slack to my own HTTP agent" says leads to an answer
built   18 I18.wish-cron             Typing what the page "A cron that tells me" says leads to the message
built   18 I18.wish-ci               Typing what the page "Alerts from CI" says leads to the alert
built   18 I18.docs-index            docs/README.md leads to every page, by wish first
built   18 I18.examples-main         Each example runs by one command that its page names
built   18 I18.never-run             The docs say plainly what was never run: systemd, launchd, a container engine, Tailscale
`,
)
