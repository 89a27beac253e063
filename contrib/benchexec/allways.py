"""Tells BenchExec (https://github.com/sosy-lab/benchexec, 3.3 or later) how to run Allways.

A benchmark definition names this module by its path from PYTHONPATH; allways.xml beside does so from the root of the project.
"""
import benchexec.result as result
import benchexec.tools.template
from benchexec.tools.sv_benchmarks_util import get_data_model_from_task, get_non_witness_input_files


class Tool(benchexec.tools.template.BaseTool2):
    def executable(self, tool_locator):
        return tool_locator.find_executable("allways")

    def name(self):
        return "Allways"

    def version(self, executable):
        return self._version_from_tool(executable, line_prefix="allways ")

    def cmdline(self, executable, options, task, rlimits):
        command = [executable, "check", *options]
        if task.property_file:
            command += ["--property", task.property_file]
        model = get_data_model_from_task(task, {"ILP32": "ilp32", "LP64": "lp64"})
        if model:
            command += ["--data-model", model]
        # A run that ends by itself says what it knows. A tenth is left for that.
        time = rlimits.walltime or rlimits.cputime
        if time:
            command += ["--timeout", f"{time * 0.9:.1f}s"]
        if rlimits.memory:
            command += ["--memory", str(int(rlimits.memory * 0.9))]
        return command + list(get_non_witness_input_files(task))

    def determine_result(self, run):
        code = run.exit_code.value
        words = run.output[0] if run.output else ""
        if code == 0:
            return result.RESULT_TRUE_PROP
        if code == 10:
            if "accesses memory that is not there" in words:
                return result.RESULT_FALSE_DEREF
            if "memory is not freed" in words:
                asked = any("memcleanup" in argument for argument in run.cmdline)
                return result.RESULT_FALSE_MEMCLEANUP if asked else result.RESULT_FALSE_MEMTRACK
            if " overflows: " in words:
                return result.RESULT_FALSE_OVERFLOW
            if "breaks free" in words:
                return result.RESULT_FALSE_FREE
            return result.RESULT_FALSE_PROP
        if code == 5:
            if "time limit" in words:
                return result.RESULT_TIMEOUT
            return result.RESULT_UNKNOWN
        return {2: "ERROR (input)", 70: "ERROR (bug)"}.get(code, result.RESULT_ERROR)
