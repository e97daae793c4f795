// One call as a program in other languages. Texts are quoted for the language.

const shell = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
const kMethods = {
  '/v1/rank': 'RankingService/Rank',
  '/v1/search': 'CatalogService/SearchDocuments',
  '/v1/explain': 'RankingService/Explain',
};

function curl({ path, request, needsKey }) {
  const key = needsKey ? ` \\\n  -H "Authorization: Bearer $SEMRANK_API_KEY"` : '';
  return `curl ${location.origin}${path}${key} \\\n  -d ${shell(JSON.stringify(request))}`;
}

function python({ path, request, needsKey }) {
  const body = JSON.stringify(JSON.stringify(request));  // also a string of Python
  const headers = needsKey ? ', headers={"Authorization": f"Bearer {os.environ[\'SEMRANK_API_KEY\']}"}' : '';
  return `import json${needsKey ? '\nimport os' : ''}
import urllib.request

request = urllib.request.Request("${location.origin}${path}", data=${body}.encode()${headers})
with urllib.request.urlopen(request) as response:
    print(json.load(response))`;
}

// The gRPC port is not known to the page: its default.
function grpc({ path, request, needsKey }) {
  const key = needsKey ? ` -H "authorization: Bearer $SEMRANK_API_KEY"` : '';
  const plain = location.protocol === 'https:' ? '' : ' -plaintext';
  return `grpcurl${plain}${key} -d ${shell(JSON.stringify(request))} \\\n  ${location.hostname}:50051 semrank.v1.${kMethods[path]}`;
}

export const kLanguages = { curl, Python: python, gRPC: grpc };
